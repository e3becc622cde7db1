// Bindings of the search for maximum PartPQ.
#include "bindings.hpp"
#include "part_packing.hpp"

namespace panmatch {
namespace {

// The edges and references of the problem, as they come from Python; rows of labels are flat.
struct PartColumns {
    const FlatArray<int64_t>&ref, &pred;
    const FlatArray<double>&intersection, &excess, &ref_size, &hits, &whole, &ref_hits, &ref_whole;
    const FlatArray<uint8_t>&counted, &passes;
    int64_t n_pred;
    bool exclusive;

    void check() const {
        size_t edges = ref.shape(0), refs = ref_size.shape(0);
        bool fits = pred.shape(0) == edges && ref_hits.shape(0) == ref_whole.shape(0) &&
                    hits.shape(0) == whole.shape(0);
        for (size_t e = 0; fits && e < edges; ++e)
            fits = ref(e) >= 0 && ref(e) < static_cast<int64_t>(refs) && pred(e) >= 0 &&
                   pred(e) < n_pred;
        if (!fits) throw nb::value_error("edges must join existing vertices");
        size_t labels = refs > 0 ? ref_whole.shape(0) / refs : 0;
        for (size_t length : {intersection.shape(0), excess.shape(0), counted.shape(0),
                              passes.shape(0)})
            if (length != edges) throw nb::value_error("one value per edge is needed");
        if (hits.shape(0) != edges * labels || ref_whole.shape(0) != refs * labels)
            throw nb::value_error("one value per edge and label is needed");
    }

    PartProblem problem() const {
        return {to_vector(ref),      to_vector(pred),     to_vector(intersection),
                to_vector(excess),   to_vector(ref_size), to_vector(hits),
                to_vector(whole),    to_vector(ref_hits), to_vector(ref_whole),
                to_vector(counted),  to_vector(passes),   n_pred,
                exclusive};
    }
};

std::tuple<Array<uint8_t>, double, int64_t, Array<double>> pack_parts_of(
    const FlatArray<int64_t>& ref, const FlatArray<int64_t>& pred,
    const FlatArray<double>& intersection, const FlatArray<double>& excess,
    const FlatArray<double>& ref_size, const FlatArray<double>& hits, const FlatArray<double>& whole,
    const FlatArray<double>& ref_hits, const FlatArray<double>& ref_whole,
    const FlatArray<uint8_t>& counted, const FlatArray<uint8_t>& passes, int64_t n_pred,
    bool exclusive, const FlatArray<uint8_t>& chosen, const FlatArray<double>& pred_price, double price,
    int64_t nodes, int price_rounds, double seconds) {
    Deadline deadline(seconds);
    PartColumns given{ref,  pred,     intersection, excess,  ref_size, hits,
                      whole, ref_hits, ref_whole,    counted, passes,   n_pred,
                      exclusive};
    given.check();
    if (chosen.shape(0) != ref.shape(0)) throw nb::value_error("one value per edge is needed");
    if (static_cast<int64_t>(pred_price.shape(0)) != n_pred)
        throw nb::value_error("one price per prediction is needed");
    PartPacking found;
    {
        nb::gil_scoped_release unlocked;
        found = pack_parts(given.problem(), to_vector(chosen), to_vector(pred_price), price,
                           {nodes, price_rounds, deadline});
    }
    return {flat(std::move(found.chosen)), found.upper, found.nodes, flat(std::move(found.price))};
}

Array<double> highest_part_qualities_of(
    const FlatArray<int64_t>& ref, const FlatArray<int64_t>& pred,
    const FlatArray<double>& intersection, const FlatArray<double>& excess,
    const FlatArray<double>& ref_size, const FlatArray<double>& hits, const FlatArray<double>& whole,
    const FlatArray<double>& ref_hits, const FlatArray<double>& ref_whole,
    const FlatArray<uint8_t>& counted, const FlatArray<uint8_t>& passes, int64_t n_pred,
    bool exclusive, double seconds) {
    Deadline deadline(seconds);
    PartColumns given{ref,  pred,     intersection, excess,  ref_size, hits,
                      whole, ref_hits, ref_whole,    counted, passes,   n_pred,
                      exclusive};
    given.check();
    std::vector<double> found;
    {
        nb::gil_scoped_release unlocked;
        found = highest_part_qualities(given.problem(), deadline);
    }
    return flat(std::move(found));
}

}  // namespace

void bind_parts(nb::module_& m) {
    using namespace nb::literals;
    m.def("pack_parts", &pack_parts_of, "ref"_a, "pred"_a, "intersection"_a, "excess"_a,
          "ref_size"_a, "hits"_a, "whole"_a, "ref_hits"_a, "ref_whole"_a, "counted"_a, "passes"_a,
          "n_pred"_a, "exclusive"_a, "chosen"_a, "pred_price"_a, "price"_a, "nodes"_a, "price_rounds"_a,
          "seconds"_a);
    m.def("highest_part_qualities", &highest_part_qualities_of, "ref"_a, "pred"_a,
          "intersection"_a, "excess"_a, "ref_size"_a, "hits"_a, "whole"_a, "ref_hits"_a,
          "ref_whole"_a, "counted"_a, "passes"_a, "n_pred"_a, "exclusive"_a,
          "seconds"_a);
}

}  // namespace panmatch
