// Bindings of the loops over runs of masks, and over detections ranked by confidence.
#include <cmath>

#include "bindings.hpp"
#include "parallel.hpp"
#include "polygons.hpp"
#include "ranked.hpp"
#include "run_pairs.hpp"
#include "runs.hpp"

namespace panmatch {
namespace {

using RunColumns = std::tuple<Array<int64_t>, Array<int64_t>, Array<int64_t>>;
using Totals = std::tuple<Array<int64_t>, Array<int64_t>, Array<int64_t>, Array<int64_t>>;

template <typename V>
RunView<V> view_of(const FlatArray<int64_t>& first, const FlatArray<V>& start,
                   const FlatArray<V>& stop) {
    check_first(first, start.shape(0));
    if (start.shape(0) != stop.shape(0)) throw nb::value_error("one stop per start is needed");
    return {first.data(), start.data(), stop.data()};
}

Totals with_totals(Runs<int64_t>&& runs, std::vector<int64_t>&& totals) {
    return {flat(std::move(runs.first)), flat(std::move(runs.start)), flat(std::move(runs.stop)),
            flat(std::move(totals))};
}

// Runs of masks from texts, and how many voxels each text covers; −1 where it is damaged.
Totals text_runs(const FlatArray<uint8_t>& text, const FlatArray<int64_t>& first) {
    check_first(first, text.shape(0));
    Runs<int64_t> runs;
    std::vector<int64_t> totals;
    {
        nb::gil_scoped_release unlocked;
        for (size_t i = 1; i < first.shape(0); ++i)
            totals.push_back(
                TextLengths(text.data() + first(i - 1), text.data() + first(i)).add_to(runs));
    }
    return with_totals(std::move(runs), std::move(totals));
}

// The same from lengths of runs, outside and inside in turn.
Totals length_runs(const FlatArray<int64_t>& lengths, const FlatArray<int64_t>& first) {
    check_first(first, lengths.shape(0));
    Runs<int64_t> runs;
    std::vector<int64_t> totals;
    for (size_t i = 1; i < first.shape(0); ++i)
        totals.push_back(add_lengths(lengths.data() + first(i - 1), first(i) - first(i - 1), runs));
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
    for (size_t i = 0; i < masks; ++i)
        if (!is_plane(height(i), width(i))) throw nb::value_error("an image is too large");
    for (size_t k = 1; k < xy_first.shape(0); ++k)
        if (xy_first(k) - xy_first(k - 1) < 2) throw nb::value_error("a polygon needs corners");
    Runs<int64_t> runs;
    {
        nb::gil_scoped_release unlocked;
        PolygonPainter painter;
        for (size_t i = 0; i < masks; ++i) {
            painter.start(height(i), width(i));
            for (int64_t k = polygon_first(i); k < polygon_first(i + 1); ++k)
                painter.add(xy.data() + xy_first(k), (xy_first(k + 1) - xy_first(k)) / 2);
            painter.finish(runs);
        }
    }
    return {flat(std::move(runs.first)), flat(std::move(runs.start)), flat(std::move(runs.stop))};
}

// Voxels of every mask.
template <typename V>
Array<int64_t> run_sizes(const FlatArray<int64_t>& first, const FlatArray<V>& start,
                         const FlatArray<V>& stop) {
    RunView<V> view = view_of(first, start, stop);
    std::vector<int64_t> sizes(first.shape(0) - 1);
    for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = view.voxels(static_cast<int64_t>(i));
    return flat(std::move(sizes));
}

// Pairs of masks of one group that share voxels, as places in `rows`, and how many; sorted by group,
// then place. The places of group i are group_a[i] … group_a[i + 1] − 1, and length[i] is the length
// of a line of pixels there. Pairs of an IoU below `least` may be left out; `crowd` has one flag per
// place of the first side.
template <typename V>
RunColumns shared_pairs(const FlatArray<int64_t>& first_a, const FlatArray<V>& start_a,
                        const FlatArray<V>& stop_a, const FlatArray<int64_t>& first_b,
                        const FlatArray<V>& start_b, const FlatArray<V>& stop_b,
                        const FlatArray<int64_t>& rows_a, const FlatArray<int64_t>& rows_b,
                        const FlatArray<int64_t>& group_a, const FlatArray<int64_t>& group_b,
                        const FlatArray<int64_t>& length, const FlatArray<uint8_t>& crowd,
                        double least, int threads) {
    RunView<V> a = view_of(first_a, start_a, stop_a), b = view_of(first_b, start_b, stop_b);
    check_rows(rows_a, first_a.shape(0) - 1);
    check_rows(rows_b, first_b.shape(0) - 1);
    check_first(group_a, rows_a.shape(0));
    check_first(group_b, rows_b.shape(0));
    int64_t groups = static_cast<int64_t>(length.shape(0));
    if (group_a.shape(0) != group_b.shape(0) || group_a.shape(0) != length.shape(0) + 1)
        throw nb::value_error("one length per group is needed");
    if (least > 0 && crowd.shape(0) != rows_a.shape(0))
        throw nb::value_error("one flag per place is needed");
    int64_t parts = threads > 1 ? 16 * int64_t{threads} : 1;
    std::vector<SharedPairs> found(static_cast<size_t>(parts));
    {
        nb::gil_scoped_release unlocked;
        share_out(
            parts, threads, [&] { return PairFinder<V>(LeastIou{least, crowd.data()}); },
            [&](PairFinder<V>& finder, int64_t part) {
                for (int64_t i = groups * part / parts; i < groups * (part + 1) / parts; ++i)
                    finder.find({a, rows_a.data(), group_a(i), group_a(i + 1)},
                                {b, rows_b.data(), group_b(i), group_b(i + 1)},
                                std::max<int64_t>(length(i), 1), found[part]);
            });
        for (size_t part = 1; part < found.size(); ++part) found[0].append(found[part]);
    }
    return {flat(std::move(found[0].a)), flat(std::move(found[0].b)),
            flat(std::move(found[0].voxels))};
}

Totals shared_sets(const FlatArray<int64_t>& ref_first, const FlatArray<int64_t>& ref_start,
                   const FlatArray<int64_t>& ref_stop, const FlatArray<int64_t>& pred_first,
                   const FlatArray<int64_t>& pred_start, const FlatArray<int64_t>& pred_stop) {
    RunView<int64_t> refs = view_of(ref_first, ref_start, ref_stop);
    RunView<int64_t> preds = view_of(pred_first, pred_start, pred_stop);
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

// Where the pairs of every group of references begin, and at last where they end.
std::vector<int64_t> first_pairs(const FlatArray<int64_t>& group_ref, const FlatArray<int64_t>& pair_ref) {
    std::vector<int64_t> first;
    size_t at = 0;
    for (size_t i = 0; i < group_ref.shape(0); ++i) {
        while (at < pair_ref.shape(0) && pair_ref(at) < group_ref(i)) ++at;
        first.push_back(static_cast<int64_t>(at));
    }
    return first;
}

// Verdicts on all predictions, shape [range, threshold, prediction]. Groups are images and classes;
// a row of `ignored` or `outside` is a range of areas. Pairs are sorted by group.
Array<uint8_t> ranked_verdicts(const FlatArray<int64_t>& group_ref,
                               const FlatArray<int64_t>& group_pred,
                               const FlatArray<int64_t>& pair_ref,
                               const FlatArray<int64_t>& pair_pred,
                               const FlatArray<double>& pair_iou, const FlatArray<uint8_t>& crowd,
                               const FlatArray<uint8_t>& ignored,
                               const FlatArray<uint8_t>& outside,
                               const FlatArray<double>& thresholds, int64_t n_ranges, int threads) {
    size_t n_ref = crowd.shape(0), ranges = static_cast<size_t>(n_ranges);
    size_t n_pred = ranges > 0 ? outside.shape(0) / ranges : 0, levels = thresholds.shape(0);
    check_first(group_ref, n_ref);
    check_first(group_pred, n_pred);
    if (ignored.shape(0) != ranges * n_ref || outside.shape(0) != ranges * n_pred ||
        group_ref.shape(0) != group_pred.shape(0) || pair_ref.shape(0) != pair_iou.shape(0) ||
        pair_pred.shape(0) != pair_iou.shape(0))
        throw nb::value_error("the columns of references, predictions and pairs must fit");
    std::vector<uint8_t> verdict(ranges * levels * n_pred);
    {
        nb::gil_scoped_release unlocked;
        const int64_t* refs = pair_ref.data();
        std::vector<int64_t> pair_first = first_pairs(group_ref, pair_ref);
        struct Space {
            RankedMatcher matcher;
            std::vector<int64_t> first;
            std::vector<RankedPartner> partners;
            int64_t fitting = 0;
        };
        share_out(
            static_cast<int64_t>(group_ref.shape(0)) - 1, threads, [] { return Space{}; },
            [&](Space& space, int64_t i) {
                int64_t ref = group_ref(i), pred = group_pred(i);
                int64_t n = group_pred(i + 1) - pred;
                int64_t from = pair_first[i], to = pair_first[i + 1];
                space.first.assign(static_cast<size_t>(n) + 2, 0);
                for (int64_t at = from; at < to; ++at) ++space.first[pair_pred(at) - pred + 2];
                for (int64_t k = 2; k <= n; ++k) space.first[k] += space.first[k - 1];
                space.partners.resize(static_cast<size_t>(to - from));
                for (int64_t at = from; at < to; ++at)
                    space.partners[space.first[pair_pred(at) - pred + 1]++] = {refs[at] - ref,
                                                                              pair_iou(at)};
                RankedGroup group{group_ref(i + 1) - ref, n, space.first.data(),
                                  space.partners.data(), crowd.data() + ref};
                for (size_t level = 0; level < levels; ++level) {
                    int64_t fitting = RankedMatcher::fitting(group, thresholds(level));
                    bool same = level > 0 && fitting == space.fitting;
                    space.fitting = fitting;
                    for (size_t range = 0; range < ranges; ++range) {
                        uint8_t* here = verdict.data() + (range * levels + level) * n_pred + pred;
                        if (same) std::copy(here - n_pred, here - n_pred + n, here);
                        else space.matcher.match(group, ignored.data() + range * n_ref + ref,
                                                 outside.data() + range * n_pred + pred,
                                                 thresholds(level), here);
                    }
                }
            });
    }
    return to_numpy(std::move(verdict), {ranges, levels, n_pred});
}

// Precision [range, class, threshold, recall] and the highest recall [range, limit, class, threshold]
// for verdicts [range, threshold, prediction]. The detections of class k are order[first[k]] …, by
// falling confidence; limits bound the rank of a detection within its image. `n_ref` has one row per
// range; −1 for a class without references.
std::tuple<Array<double>, Array<double>> ranked_precision(
    const FlatArray<uint8_t>& verdicts, const FlatArray<int64_t>& order,
    const FlatArray<int64_t>& first, const FlatArray<int64_t>& rank, const FlatArray<int64_t>& n_ref,
    const FlatArray<double>& recalls, const FlatArray<int64_t>& limits, int64_t n_levels) {
    check_first(first, order.shape(0));
    size_t classes = first.shape(0) - 1, levels = static_cast<size_t>(n_levels), n = recalls.shape(0);
    size_t n_pred = rank.shape(0), ranges = classes > 0 ? n_ref.shape(0) / classes : 0;
    bool fits = n_ref.shape(0) == ranges * classes && (classes == 0 || verdicts.shape(0) == ranges * levels * n_pred);
    for (size_t i = 0; fits && i < order.shape(0); ++i)
        fits = order(i) >= 0 && order(i) < static_cast<int64_t>(n_pred);
    if (!fits) throw nb::value_error("all columns must be of the same predictions that have verdicts");
    size_t curves = classes * levels;
    std::vector<double> precision(ranges * curves * n, -1.0);
    std::vector<double> recall(ranges * limits.shape(0) * curves, -1.0);
    {
        nb::gil_scoped_release unlocked;
        RankedCurve curve;
        for (size_t i = 0; i < ranges * curves; ++i) {
            size_t range = i / curves, k = i % curves / levels, level = i % levels;
            if (n_ref(range * classes + k) == 0) continue;
            curve.trace(verdicts.data() + (range * levels + level) * n_pred, order.data() + first(k),
                        first(k + 1) - first(k), n_ref(range * classes + k));
            curve.sample(recalls.data(), static_cast<int64_t>(n), precision.data() + i * n);
            for (size_t l = 0; l < limits.shape(0); ++l)
                recall[(range * limits.shape(0) + l) * curves + i % curves] =
                    curve.highest_recall(rank.data(), limits(l));
        }
    }
    return {to_numpy(std::move(precision), {ranges, classes, levels, n}),
            to_numpy(std::move(recall), {ranges, limits.shape(0), classes, levels})};
}

// Positions by rising group, then falling score, then as they are; no scores: by group alone.
Array<int64_t> ranked_order(const FlatArray<int64_t>& group, const FlatArray<double>& score) {
    bool scored = score.shape(0) > 0;
    bool fits = !scored || score.shape(0) == group.shape(0);
    for (size_t i = 0; fits && i < group.shape(0); ++i) fits = group(i) >= 0;
    for (size_t i = 0; fits && i < score.shape(0); ++i) fits = !std::isnan(score(i));
    if (!fits) throw nb::value_error("groups count from 0, and each has a score or none");
    return flat(RankedOrder().of(group.data(), scored ? score.data() : nullptr,
                                 static_cast<int64_t>(group.shape(0))));
}

template <typename V>
void bind_run_sizes(nb::module_& m) {
    using namespace nb::literals;
    m.def("run_sizes", &run_sizes<V>, "first"_a, "start"_a, "stop"_a);
}

template <typename V>
void bind_shared_pairs(nb::module_& m) {
    using namespace nb::literals;
    m.def("shared_pairs", &shared_pairs<V>, "first_a"_a, "start_a"_a, "stop_a"_a, "first_b"_a,
          "start_b"_a, "stop_b"_a, "rows_a"_a, "rows_b"_a, "group_a"_a, "group_b"_a, "length"_a,
          "crowd"_a, "least"_a, "threads"_a);
}

}  // namespace

void bind_masks(nb::module_& m) {
    using namespace nb::literals;
    m.def("text_runs", &text_runs, "text"_a, "first"_a);
    m.def("length_runs", &length_runs, "lengths"_a, "first"_a);
    m.def("polygon_runs", &polygon_runs, "xy"_a, "xy_first"_a, "polygon_first"_a, "height"_a,
          "width"_a);
    bind_run_sizes<int64_t>(m);  // first: what a call with both types is turned into
    bind_run_sizes<int32_t>(m);
    bind_shared_pairs<int64_t>(m);
    bind_shared_pairs<int32_t>(m);
    m.def("shared_sets", &shared_sets, "ref_first"_a, "ref_start"_a, "ref_stop"_a, "pred_first"_a,
          "pred_start"_a, "pred_stop"_a);
    m.def("ranked_verdicts", &ranked_verdicts, "group_ref"_a, "group_pred"_a, "pair_ref"_a,
          "pair_pred"_a, "pair_iou"_a, "crowd"_a, "ignored"_a, "outside"_a, "thresholds"_a,
          "n_ranges"_a, "threads"_a);
    m.def("ranked_order", &ranked_order, "group"_a, "score"_a);
    m.def("ranked_precision", &ranked_precision, "verdicts"_a, "order"_a, "first"_a, "rank"_a,
          "n_ref"_a, "recalls"_a, "limits"_a, "n_levels"_a);
}

}  // namespace panmatch
