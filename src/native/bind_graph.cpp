// Bindings of the loops over the graph: assignment, merging, packing.
#include "assignment.hpp"
#include "bindings.hpp"
#include "components.hpp"
#include "label_graph.hpp"
#include "local_search.hpp"
#include "maximum_pq.hpp"
#include "merge.hpp"
#include "packing.hpp"
#include "piece_search.hpp"

namespace panmatch {
namespace {

Array<uint8_t> to_mask(const std::vector<char>& flags) {
    std::vector<uint8_t> mask(flags.begin(), flags.end());
    size_t n = mask.size();
    return to_numpy(std::move(mask), {n});
}

using Course = std::tuple<Array<int64_t>, Array<double>, Array<double>>;

Course to_course(Intervals&& found) {
    size_t n = found.edge.size();
    return {to_numpy(std::move(found.edge), {n}), to_numpy(std::move(found.start), {n}),
            to_numpy(std::move(found.stop), {n})};
}

// One array, since each costs a small image a microsecond: the numbers of references, predictions,
// edges and voxels; ids and sizes of references, then of predictions; zeros, one per prediction;
// references, predictions and shared voxels of the edges.
Array<int64_t> label_graph(const FlatArray<int64_t>& ref, const FlatArray<int64_t>& pred,
                           const FlatArray<int64_t>& counts) {
    size_t n = ref.shape(0);
    if (pred.shape(0) != n || counts.shape(0) != n) throw nb::value_error("one count per pair is needed");
    std::vector<int64_t> all;
    {
        nb::gil_scoped_release unlocked;
        LabelGraph graph(ref.data(), pred.data(), counts.data(), n);
        all = {static_cast<int64_t>(graph.ref_ids.size()), static_cast<int64_t>(graph.pred_ids.size()),
               static_cast<int64_t>(graph.shared.size()), graph.voxels};
        std::vector<int64_t> nothing(graph.pred_ids.size());
        for (const auto* column : {&graph.ref_ids, &graph.ref_sizes, &graph.pred_ids, &graph.pred_sizes,
                                   &nothing, &graph.edge_ref, &graph.edge_pred, &graph.shared})
            all.insert(all.end(), column->begin(), column->end());
    }
    return flat(std::move(all));
}

void check_edges(const FlatArray<int64_t>& ref, const FlatArray<int64_t>& pred, int64_t n_ref, int64_t n_pred) {
    bool fits = ref.shape(0) == pred.shape(0);
    for (size_t e = 0; fits && e < ref.shape(0); ++e)
        fits = ref(e) >= 0 && ref(e) < n_ref && pred(e) >= 0 && pred(e) < n_pred;
    if (!fits) throw nb::value_error("edges must join existing vertices");
}

void check_length(size_t length, size_t edges) {
    if (length != edges) throw nb::value_error("one value per edge is needed");
}

Array<uint8_t> assign(const FlatArray<int64_t>& ref, const FlatArray<int64_t>& pred,
                      const FlatArray<int64_t>& weight, int64_t n_ref, int64_t n_pred) {
    check_edges(ref, pred, n_ref, n_pred);
    check_length(weight.shape(0), ref.shape(0));
    std::vector<char> matched;
    {
        nb::gil_scoped_release unlocked;
        Bipartite graph(to_vector(ref), to_vector(pred), n_ref, n_pred);
        auto weights = to_vector(weight);
        matched = Assignment(graph, weights).history().matched();
    }
    return to_mask(matched);
}

Course assign_sweep(const FlatArray<int64_t>& ref, const FlatArray<int64_t>& pred,
                    const FlatArray<int64_t>& weight, const FlatArray<double>& score, int64_t n_ref,
                    int64_t n_pred) {
    check_edges(ref, pred, n_ref, n_pred);
    check_length(weight.shape(0), ref.shape(0));
    check_length(score.shape(0), ref.shape(0));
    Intervals found;
    {
        nb::gil_scoped_release unlocked;
        Bipartite graph(to_vector(ref), to_vector(pred), n_ref, n_pred);
        auto weights = to_vector(weight);
        found = Assignment(graph, weights).sweep(to_vector(score));
    }
    return to_course(std::move(found));
}

Array<uint8_t> merge(const FlatArray<int64_t>& ref, const FlatArray<int64_t>& pred,
                     const FlatArray<double>& intersection, const FlatArray<double>& ref_size,
                     const FlatArray<double>& pred_size, int64_t seedable, bool grow) {
    check_edges(ref, pred, ref_size.shape(0), pred_size.shape(0));
    check_length(intersection.shape(0), ref.shape(0));
    std::vector<char> matched;
    {
        nb::gil_scoped_release unlocked;
        Bipartite graph(to_vector(ref), to_vector(pred), ref_size.shape(0), pred_size.shape(0));
        Areas areas{to_vector(intersection), to_vector(ref_size), to_vector(pred_size)};
        MergeWalk walk(graph, areas);
        walk.walk(seedable, grow);
        matched = walk.history().matched();
    }
    return to_mask(matched);
}

Course merge_sweep(const FlatArray<int64_t>& ref, const FlatArray<int64_t>& pred,
                   const FlatArray<double>& intersection, const FlatArray<double>& ref_size,
                   const FlatArray<double>& pred_size, const FlatArray<double>& score) {
    check_edges(ref, pred, ref_size.shape(0), pred_size.shape(0));
    check_length(intersection.shape(0), ref.shape(0));
    check_length(score.shape(0), ref.shape(0));
    Intervals found;
    {
        nb::gil_scoped_release unlocked;
        Bipartite graph(to_vector(ref), to_vector(pred), ref_size.shape(0), pred_size.shape(0));
        Areas areas{to_vector(intersection), to_vector(ref_size), to_vector(pred_size)};
        MergeWalk walk(graph, areas);
        walk.walk(graph.size(), true);
        found = walk.sweep(to_vector(score));
    }
    return to_course(std::move(found));
}

CoverProblem to_cover_problem(const FlatArray<int64_t>& ref, const FlatArray<int64_t>& pred,
                              const FlatArray<double>& quality, const FlatArray<double>& score,
                              const FlatArray<uint8_t>& counted, int64_t n_ref, bool exclusive) {
    check_edges(ref, pred, n_ref, counted.shape(0));
    check_length(quality.shape(0), ref.shape(0));
    check_length(score.shape(0), ref.shape(0));
    return {to_vector(ref),     to_vector(pred), to_vector(quality), to_vector(score),
            to_vector(counted), n_ref,           exclusive};
}

std::tuple<Array<uint8_t>, int64_t> cover(const FlatArray<int64_t>& ref,
                                          const FlatArray<int64_t>& pred,
                                          const FlatArray<double>& quality,
                                          const FlatArray<double>& score,
                                          const FlatArray<uint8_t>& counted, int64_t n_ref,
                                          bool exclusive) {
    CoverProblem problem = to_cover_problem(ref, pred, quality, score, counted, n_ref, exclusive);
    std::vector<char> matched;
    int64_t rounds;
    {
        nb::gil_scoped_release unlocked;
        MaximumPq found(problem);
        matched = found.history().matched();
        rounds = found.rounds();
    }
    return {to_mask(matched), rounds};
}

Course cover_sweep(const FlatArray<int64_t>& ref, const FlatArray<int64_t>& pred,
                   const FlatArray<double>& quality, const FlatArray<double>& score,
                   const FlatArray<uint8_t>& counted, int64_t n_ref, bool exclusive) {
    CoverProblem problem = to_cover_problem(ref, pred, quality, score, counted, n_ref, exclusive);
    Intervals found;
    {
        nb::gil_scoped_release unlocked;
        found = MaximumPq(problem).sweep();
    }
    return to_course(std::move(found));
}

using PackResult =
    std::tuple<Array<int64_t>, double, double, int64_t, Array<double>, Array<uint8_t>,
               Array<int64_t>, Array<double>, Array<int64_t>, Array<int64_t>, double, double,
               Array<int64_t>>;

// The columns of a packing problem, as they come from Python.
struct PackColumns {
    const FlatArray<int64_t>&ref, &pred;
    const FlatArray<double>&intersection, &excess;
    const FlatArray<uint8_t>&counted, &passes;
    const FlatArray<double>& ref_size;
    int64_t n_pred;

    void check(const FlatArray<uint8_t>& chosen) const {
        check_edges(ref, pred, static_cast<int64_t>(ref_size.shape(0)), n_pred);
        for (size_t length : {intersection.shape(0), excess.shape(0), counted.shape(0),
                              passes.shape(0), chosen.shape(0)})
            check_length(length, ref.shape(0));
    }

    PackProblem problem(double price) const {
        return {to_vector(ref),      to_vector(pred),    to_vector(intersection), to_vector(excess),
                to_vector(ref_size), to_vector(counted), to_vector(passes),       n_pred,
                price};
    }
};

PackResult pack(const FlatArray<int64_t>& ref, const FlatArray<int64_t>& pred,
                const FlatArray<double>& intersection, const FlatArray<double>& excess,
                const FlatArray<uint8_t>& counted, const FlatArray<uint8_t>& passes,
                const FlatArray<double>& ref_size, int64_t n_pred, const FlatArray<uint8_t>& chosen,
                const FlatArray<double>& pred_price, double price, bool pieces, int64_t nodes,
                int64_t nodes_per_component, int price_rounds, int64_t table, int64_t columns,
                double seconds) {
    Deadline deadline(seconds);
    PackColumns given{ref, pred, intersection, excess, counted, passes, ref_size, n_pred};
    given.check(chosen);
    if (static_cast<int64_t>(pred_price.shape(0)) != n_pred)
        throw nb::value_error("one price per prediction is needed");
    Packing found;
    {
        nb::gil_scoped_release unlocked;
        PackProblem problem = given.problem(price);
        problem.pieces = pieces;
        PackStart start{to_vector(chosen), to_vector(pred_price)};
        Limits limits{nodes,
                      nodes_per_component,
                      price_rounds,
                      static_cast<size_t>(table),
                      static_cast<size_t>(columns),
                      deadline};
        found = Packer(problem, start, limits).solve();
    }
    return {flat(std::move(found.edges)), found.worth, found.upper, found.nodes,
            flat(std::move(found.price)), flat(std::move(found.is_open)),
            flat(std::move(found.open_ref)), flat(std::move(found.open_worth)),
            flat(std::move(found.open_first)), flat(std::move(found.open_edges)),
            found.listed_worth, found.rest_upper, flat(std::move(found.open_members))};
}

Array<uint8_t> improve(const FlatArray<int64_t>& ref, const FlatArray<int64_t>& pred,
                       const FlatArray<double>& intersection, const FlatArray<double>& excess,
                       const FlatArray<uint8_t>& counted, const FlatArray<uint8_t>& passes,
                       const FlatArray<double>& ref_size, int64_t n_pred,
                       const FlatArray<uint8_t>& chosen, const FlatArray<uint8_t>& active,
                       double price, bool pieces, int64_t kicks, double seconds) {
    Deadline deadline(seconds);
    PackColumns given{ref, pred, intersection, excess, counted, passes, ref_size, n_pred};
    given.check(chosen);
    if (active.shape(0) != ref_size.shape(0))
        throw nb::value_error("one value per reference is needed");
    std::vector<uint8_t> found;
    {
        nb::gil_scoped_release unlocked;
        PackProblem problem = given.problem(price);
        auto start = to_vector(chosen), taking_part = to_vector(active);
        if (pieces) {
            PieceSearch search(problem, start, taking_part, deadline);
            search.run(kicks);
            found = search.chosen();
        } else {
            LocalSearch search(problem, start, taking_part, deadline);
            search.run(kicks);
            found = search.chosen(start, taking_part);
        }
    }
    return flat(std::move(found));
}

// Running sums that restart wherever the group changes.
Array<double> grouped_cumsum(const FlatArray<int64_t>& group, const FlatArray<double>& values) {
    check_length(values.shape(0), group.shape(0));
    auto sums = to_vector(values);
    for (size_t i = 1; i < sums.size(); ++i)
        if (group(i) == group(i - 1)) sums[i] += sums[i - 1];
    size_t n = sums.size();
    return to_numpy(std::move(sums), {n});
}

// The component of every vertex; `start` and `stop` are both ends of every edge.
Array<int64_t> graph_components(const FlatArray<int64_t>& start, const FlatArray<int64_t>& stop,
                                int64_t n) {
    check_edges(start, stop, n, n);
    std::vector<int64_t> found;
    {
        nb::gil_scoped_release unlocked;
        found = vertex_components(to_vector(start), to_vector(stop), n);
    }
    return flat(std::move(found));
}

}  // namespace

void bind_graph(nb::module_& m) {
    using namespace nb::literals;
    m.def("label_graph", &label_graph, "ref"_a, "pred"_a, "counts"_a);
    m.def("assign", &assign, "ref"_a, "pred"_a, "weight"_a, "n_ref"_a, "n_pred"_a);
    m.def("assign_sweep", &assign_sweep, "ref"_a, "pred"_a, "weight"_a, "score"_a, "n_ref"_a,
          "n_pred"_a);
    m.def("cover", &cover, "ref"_a, "pred"_a, "quality"_a, "score"_a, "counted"_a, "n_ref"_a,
          "exclusive"_a);
    m.def("cover_sweep", &cover_sweep, "ref"_a, "pred"_a, "quality"_a, "score"_a, "counted"_a,
          "n_ref"_a, "exclusive"_a);
    m.def("merge", &merge, "ref"_a, "pred"_a, "intersection"_a, "ref_size"_a, "pred_size"_a,
          "seedable"_a, "grow"_a);
    m.def("merge_sweep", &merge_sweep, "ref"_a, "pred"_a, "intersection"_a, "ref_size"_a,
          "pred_size"_a, "score"_a);
    m.def("pack", &pack, "ref"_a, "pred"_a, "intersection"_a, "excess"_a, "counted"_a, "passes"_a,
          "ref_size"_a, "n_pred"_a, "chosen"_a, "pred_price"_a, "price"_a, "pieces"_a,
          "nodes"_a, "nodes_per_component"_a, "price_rounds"_a, "table"_a, "columns"_a, "seconds"_a);
    m.def("improve", &improve, "ref"_a, "pred"_a, "intersection"_a, "excess"_a, "counted"_a,
          "passes"_a, "ref_size"_a, "n_pred"_a, "chosen"_a, "active"_a, "price"_a, "pieces"_a,
          "kicks"_a, "seconds"_a);
    m.def("graph_components", &graph_components, "start"_a, "stop"_a, "n"_a);
    m.def("grouped_cumsum", &grouped_cumsum, "group"_a, "values"_a);
}

}  // namespace panmatch
