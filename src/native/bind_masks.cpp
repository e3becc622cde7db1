// Bindings of the loops over runs of masks.
#include "bindings.hpp"
#include "parallel.hpp"
#include "polygons.hpp"
#include "runs.hpp"

namespace panmatch {
namespace {

using RunColumns = std::tuple<Array<int64_t>, Array<int64_t>, Array<int64_t>>;
using Totals = std::tuple<Array<int64_t>, Array<int64_t>, Array<int64_t>, Array<int64_t>>;

void check_first(const FlatArray<int64_t>& first, size_t length) {
    bool fits = first.shape(0) > 0 && first(0) == 0 &&
                first(first.shape(0) - 1) == static_cast<int64_t>(length);
    for (size_t i = 1; fits && i < first.shape(0); ++i) fits = first(i - 1) <= first(i);
    if (!fits) throw nb::value_error("first must rise from 0 to the number of values");
}

RunView view_of(const FlatArray<int64_t>& first, const FlatArray<int64_t>& start,
                const FlatArray<int64_t>& stop) {
    check_first(first, start.shape(0));
    if (start.shape(0) != stop.shape(0)) throw nb::value_error("one stop per start is needed");
    return {first.data(), start.data(), stop.data()};
}

Totals with_totals(Runs&& runs, std::vector<int64_t>&& totals) {
    return {flat(std::move(runs.first)), flat(std::move(runs.start)), flat(std::move(runs.stop)),
            flat(std::move(totals))};
}

// Runs of masks from texts, and how many voxels each text covers; −1 where it is damaged.
Totals text_runs(const FlatArray<uint8_t>& text, const FlatArray<int64_t>& first) {
    check_first(first, text.shape(0));
    Runs runs;
    std::vector<int64_t> totals;
    {
        nb::gil_scoped_release unlocked;
        std::vector<int64_t> lengths;
        for (size_t i = 1; i < first.shape(0); ++i) {
            bool read = read_lengths(text.data() + first(i - 1), text.data() + first(i), lengths);
            totals.push_back(
                read ? add_lengths(lengths.data(), static_cast<int64_t>(lengths.size()), runs) : -1);
            runs.finish_mask();
        }
    }
    return with_totals(std::move(runs), std::move(totals));
}

// The same from lengths of runs, outside and inside in turn.
Totals length_runs(const FlatArray<int64_t>& lengths, const FlatArray<int64_t>& first) {
    check_first(first, lengths.shape(0));
    Runs runs;
    std::vector<int64_t> totals;
    for (size_t i = 1; i < first.shape(0); ++i) {
        totals.push_back(add_lengths(lengths.data() + first(i - 1), first(i) - first(i - 1), runs));
        runs.finish_mask();
    }
    return with_totals(std::move(runs), std::move(totals));
}

// Runs of masks that consist of polygons: those of mask i are polygon_first[i] … and so on, the
// numbers of polygon k are xy_first[k] …, x and y in turn.
RunColumns polygon_runs(const FlatArray<double>& xy, const FlatArray<int64_t>& xy_first,
                        const FlatArray<int64_t>& polygon_first, const FlatArray<int64_t>& height,
                        const FlatArray<int64_t>& width) {
    check_first(xy_first, xy.shape(0));
    check_first(polygon_first, xy_first.shape(0) - 1);
    size_t masks = polygon_first.shape(0) - 1;
    if (height.shape(0) != masks || width.shape(0) != masks)
        throw nb::value_error("one height and width per mask are needed");
    Runs runs;
    {
        nb::gil_scoped_release unlocked;
        for (size_t i = 0; i < masks; ++i) {
            PolygonPainter painter(height(i), width(i));
            for (int64_t k = polygon_first(i); k < polygon_first(i + 1); ++k)
                painter.add(xy.data() + xy_first(k), (xy_first(k + 1) - xy_first(k)) / 2);
            painter.finish(runs);
        }
    }
    return {flat(std::move(runs.first)), flat(std::move(runs.start)), flat(std::move(runs.stop))};
}

// Pairs of masks of one group that share voxels, and how many; sorted by group, then mask. The
// masks of group i are group_a[i] … group_a[i + 1] − 1, and length[i] is the length of its rows.
RunColumns shared_pairs(const FlatArray<int64_t>& first_a, const FlatArray<int64_t>& start_a,
                        const FlatArray<int64_t>& stop_a, const FlatArray<int64_t>& first_b,
                        const FlatArray<int64_t>& start_b, const FlatArray<int64_t>& stop_b,
                        const FlatArray<int64_t>& group_a, const FlatArray<int64_t>& group_b,
                        const FlatArray<int64_t>& length, int threads) {
    RunView a = view_of(first_a, start_a, stop_a), b = view_of(first_b, start_b, stop_b);
    check_first(group_a, first_a.shape(0) - 1);
    check_first(group_b, first_b.shape(0) - 1);
    int64_t groups = static_cast<int64_t>(length.shape(0));
    if (group_a.shape(0) != group_b.shape(0) || group_a.shape(0) != length.shape(0) + 1)
        throw nb::value_error("one length per group is needed");
    std::vector<SharedPairs> found(static_cast<size_t>(groups));
    SharedPairs all;
    {
        nb::gil_scoped_release unlocked;
        share_out(
            groups, threads, [] { return 0; },
            [&](int, int64_t i) {
                PairFinder(a, b, std::max<int64_t>(length(i), 1))
                    .find(group_a(i), group_a(i + 1), group_b(i), group_b(i + 1), found[i]);
            });
        for (auto& one : found) {
            all.a.insert(all.a.end(), one.a.begin(), one.a.end());
            all.b.insert(all.b.end(), one.b.begin(), one.b.end());
            all.voxels.insert(all.voxels.end(), one.voxels.begin(), one.voxels.end());
        }
    }
    return {flat(std::move(all.a)), flat(std::move(all.b)), flat(std::move(all.voxels))};
}

Totals shared_sets(const FlatArray<int64_t>& ref_first, const FlatArray<int64_t>& ref_start,
                   const FlatArray<int64_t>& ref_stop, const FlatArray<int64_t>& pred_first,
                   const FlatArray<int64_t>& pred_start, const FlatArray<int64_t>& pred_stop) {
    RunView refs = view_of(ref_first, ref_start, ref_stop);
    RunView preds = view_of(pred_first, pred_start, pred_stop);
    SharedSets found;
    {
        nb::gil_scoped_release unlocked;
        found = SetSweep(refs, static_cast<int64_t>(ref_first.shape(0)) - 1, preds,
                         static_cast<int64_t>(pred_first.shape(0)) - 1)
                    .run();
    }
    return {flat(std::move(found.ref)), flat(std::move(found.first)), flat(std::move(found.preds)),
            flat(std::move(found.voxels))};
}

}  // namespace

void bind_masks(nb::module_& m) {
    using namespace nb::literals;
    m.def("text_runs", &text_runs, "text"_a, "first"_a);
    m.def("length_runs", &length_runs, "lengths"_a, "first"_a);
    m.def("polygon_runs", &polygon_runs, "xy"_a, "xy_first"_a, "polygon_first"_a, "height"_a,
          "width"_a);
    m.def("shared_pairs", &shared_pairs, "first_a"_a, "start_a"_a, "stop_a"_a, "first_b"_a,
          "start_b"_a, "stop_b"_a, "group_a"_a, "group_b"_a, "length"_a, "threads"_a);
    m.def("shared_sets", &shared_sets, "ref_first"_a, "ref_start"_a, "ref_stop"_a, "pred_first"_a,
          "pred_start"_a, "pred_stop"_a);
}

}  // namespace panmatch
