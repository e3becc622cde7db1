// Bindings of the reader of COCO instances.
#include "bindings.hpp"
#include "instances.hpp"
#include "parallel.hpp"

namespace panmatch {
namespace {

using Text = FlatArray<uint8_t>;

// Where the list of annotations is and whether its strings are ASCII; empty if anything about it is
// unusual. Then columns: image, category, begin and end of the segmentation, height and width that it
// states; area, score, box; what is given (see `Given`), how the segmentation is written, crowd.
auto instance_rows(const Text& text) {
    InstanceRows found;
    bool usual = false;
    {
        nb::gil_scoped_release unlocked;
        usual = InstanceReader(text.data(), text.shape(0)).read(found);
    }
    size_t n = found.size();
    std::vector<int64_t> span;
    if (usual) span = {found.begin, found.end, found.is_ascii};
    return std::make_tuple(
        flat(std::move(span)), flat(std::move(found.image)), flat(std::move(found.category)),
        flat(std::move(found.span_begin)), flat(std::move(found.span_end)),
        to_numpy(std::move(found.stated), {n, 2}), flat(std::move(found.area)),
        flat(std::move(found.score)), to_numpy(std::move(found.boxes), {n, 4}),
        flat(std::move(found.given)), flat(std::move(found.written)), flat(std::move(found.crowd)));
}

// Runs and voxels of segmentations in a text, as `instance_rows` found them; no mask at all if one
// is unusual or does not fit its image.
std::tuple<Array<int64_t>, Array<int32_t>, Array<int32_t>> instance_runs(
    const Text& text, const FlatArray<int64_t>& begin, const FlatArray<int64_t>& end,
    const FlatArray<uint8_t>& written, const FlatArray<int64_t>& height,
    const FlatArray<int64_t>& width, int threads) {
    int64_t n = static_cast<int64_t>(begin.shape(0)), size = static_cast<int64_t>(text.shape(0));
    bool fits = end.shape(0) == begin.shape(0) && written.shape(0) == begin.shape(0) &&
                height.shape(0) == begin.shape(0) && width.shape(0) == begin.shape(0);
    for (int64_t i = 0; fits && i < n; ++i)
        fits = begin(i) >= 0 && begin(i) <= end(i) && end(i) <= size &&
               is_plane(height(i), width(i));
    if (!fits) throw nb::value_error("segmentations must be in the text, and images not too large");
    int64_t parts = threads > 1 ? 4 * int64_t{threads} : 1;
    std::vector<ShortRuns> found(static_cast<size_t>(parts));
    std::vector<char> failed(static_cast<size_t>(parts));
    {
        nb::gil_scoped_release unlocked;
        share_out(
            parts, threads, [] { return SegmentationReader(); },
            [&](SegmentationReader& reader, int64_t part) {
                int64_t from = n * part / parts, to = n * (part + 1) / parts;
                for (int64_t i = from; i < to && !failed[part]; ++i) {
                    if (i - from == 256) found[part].expect(to - from);
                    failed[part] = !reader.read(text.data() + begin(i), text.data() + end(i),
                                                written(i), height(i), width(i), found[part]);
                }
            });
        if (std::count(failed.begin(), failed.end(), 1) > 0) found.assign(1, ShortRuns());
        else if (parts > 1) found.assign(1, join(std::move(found), threads));
    }
    return {flat(std::move(found[0].first)), flat(std::move(found[0].start)),
            flat(std::move(found[0].stop))};
}

}  // namespace

void bind_instances(nb::module_& m) {
    using namespace nb::literals;
    m.def("instance_rows", &instance_rows, "text"_a);
    m.def("instance_runs", &instance_runs, "text"_a, "begin"_a, "end"_a, "written"_a, "height"_a,
          "width"_a, "threads"_a);
}

}  // namespace panmatch
