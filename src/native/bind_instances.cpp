// Bindings of the reader of COCO instances.
#include <atomic>

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

Segmentations segmentations_of(const Text& text, const FlatArray<int64_t>& begin,
                               const FlatArray<int64_t>& end, const FlatArray<uint8_t>& written,
                               const FlatArray<int64_t>& size) {
    size_t n = begin.shape(0);
    bool fits = end.shape(0) == n && written.shape(0) == n && size.shape(0) == 2 * n;
    for (size_t i = 0; fits && i < n; ++i)
        fits = begin(i) >= 0 && begin(i) <= end(i) &&
               end(i) <= static_cast<int64_t>(text.shape(0)) && is_plane(size(2 * i), size(2 * i + 1));
    if (!fits) throw nb::value_error("segmentations must be in the text, and images not too large");
    return {text.data(), begin.data(), end.data(), size.data(), written.data()};
}

// Runs and voxels of segmentations in a text, as `instance_rows` found them; no mask at all if one
// is unusual or does not fit its image. `size` has height and width of every image.
std::tuple<Array<int64_t>, Array<int32_t>, Array<int32_t>> instance_runs(
    const Text& text, const FlatArray<int64_t>& begin, const FlatArray<int64_t>& end,
    const FlatArray<uint8_t>& written, const FlatArray<int64_t>& size, int threads) {
    Segmentations all = segmentations_of(text, begin, end, written, size);
    int64_t n = static_cast<int64_t>(begin.shape(0));
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
                    failed[part] = !all.read(i, reader, found[part]);
                }
            });
        if (std::count(failed.begin(), failed.end(), 1) > 0) found.assign(1, ShortRuns());
        else if (parts > 1) found.assign(1, join(std::move(found), threads));
    }
    return {flat(std::move(found[0].first)), flat(std::move(found[0].start)),
            flat(std::move(found[0].stop))};
}

// The same pairs as those of `shared_pairs`, and the voxels of the masks at all places, straight from
// two texts; false, and nothing else, if a segmentation is unusual or does not fit its image.
auto instance_pairs(const Text& text_a, const FlatArray<int64_t>& begin_a,
                    const FlatArray<int64_t>& end_a, const FlatArray<uint8_t>& written_a,
                    const FlatArray<int64_t>& size_a, const Text& text_b,
                    const FlatArray<int64_t>& begin_b, const FlatArray<int64_t>& end_b,
                    const FlatArray<uint8_t>& written_b, const FlatArray<int64_t>& size_b,
                    const FlatArray<int64_t>& rows_a, const FlatArray<int64_t>& rows_b,
                    const FlatArray<int64_t>& group_a, const FlatArray<int64_t>& group_b,
                    const FlatArray<int64_t>& length, const FlatArray<uint8_t>& crowd, double least,
                    int threads) {
    Segmentations a = segmentations_of(text_a, begin_a, end_a, written_a, size_a);
    Segmentations b = segmentations_of(text_b, begin_b, end_b, written_b, size_b);
    check_rows(rows_a, begin_a.shape(0));
    check_rows(rows_b, begin_b.shape(0));
    check_first(group_a, rows_a.shape(0));
    check_first(group_b, rows_b.shape(0));
    int64_t groups = static_cast<int64_t>(length.shape(0));
    if (group_a.shape(0) != length.shape(0) + 1 || group_b.shape(0) != length.shape(0) + 1 ||
        crowd.shape(0) != rows_a.shape(0))
        throw nb::value_error("one length per group and one flag per place are needed");
    std::vector<int64_t> voxels_a(rows_a.shape(0)), voxels_b(rows_b.shape(0));
    int64_t n_a = static_cast<int64_t>(voxels_a.size()), n_b = static_cast<int64_t>(voxels_b.size());
    int64_t parts = threads > 1 ? 16 * int64_t{threads} : 1;
    std::vector<SharedPairs> found(static_cast<size_t>(parts));
    std::atomic<bool> usual{true};
    {
        nb::gil_scoped_release unlocked;
        share_out(
            parts, threads, [&] { return WrittenPairs(a, b, LeastIou{least, crowd.data()}); },
            [&](WrittenPairs& pairs, int64_t part) {
                for (int64_t i = groups * part / parts; i < groups * (part + 1) / parts && usual; ++i) {
                    bool read = pairs.find(
                        {rows_a.data(), n_a, group_a(i), group_a(i + 1), voxels_a.data()},
                        {rows_b.data(), n_b, group_b(i), group_b(i + 1), voxels_b.data()},
                        std::max<int64_t>(length(i), 1), found[part]);
                    if (!read) usual = false;
                }
            });
        if (!usual) found.assign(1, SharedPairs());
        for (size_t part = 1; part < found.size(); ++part) found[0].append(found[part]);
    }
    return std::make_tuple(usual.load(), flat(std::move(found[0].a)), flat(std::move(found[0].b)),
                           flat(std::move(found[0].voxels)), flat(std::move(voxels_a)),
                           flat(std::move(voxels_b)));
}

}  // namespace

void bind_instances(nb::module_& m) {
    using namespace nb::literals;
    m.def("instance_rows", &instance_rows, "text"_a);
    m.def("instance_runs", &instance_runs, "text"_a, "begin"_a, "end"_a, "written"_a, "size"_a,
          "threads"_a);
    m.def("instance_pairs", &instance_pairs, "text_a"_a, "begin_a"_a, "end_a"_a, "written_a"_a,
          "size_a"_a, "text_b"_a, "begin_b"_a, "end_b"_a, "written_b"_a, "size_b"_a, "rows_a"_a,
          "rows_b"_a, "group_a"_a, "group_b"_a, "length"_a, "crowd"_a, "least"_a, "threads"_a);
}

}  // namespace panmatch
