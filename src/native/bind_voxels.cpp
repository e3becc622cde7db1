// Bindings of the loops over voxels: counting, geometry, distances.
#include "bindings.hpp"
#include "voronoi.hpp"
#include "distance.hpp"
#include "geometry.hpp"
#include "joint_count.hpp"
#include "label_components.hpp"
#include "mask.hpp"
#include "numbering.hpp"
#include "paint.hpp"
#include "sites.hpp"
#include "surface.hpp"

namespace panmatch {
namespace {

using Counts = std::tuple<Array<int64_t>, Array<int64_t>>;

template <size_t K>
Counts count_combinations(const std::vector<int64_t>& shape, const std::vector<Operand>& operands,
                          int threads) {
    std::vector<int64_t> keys, counts;
    {
        nb::gil_scoped_release unlocked;
        auto entries = count_joint<K>(shape, operands, threads);
        for (const auto& entry : entries) {
            keys.insert(keys.end(), entry.key.begin(), entry.key.end());
            counts.push_back(entry.count);
        }
    }
    size_t n = counts.size();
    return {to_numpy(std::move(keys), {n, K}), to_numpy(std::move(counts), {n})};
}

Counts joint_counts(const std::vector<LabelArray>& arrays, int threads) {
    if (arrays.empty() || threads < 1) throw nb::value_error("one array and one thread at least");
    std::vector<Operand> operands;
    std::vector<int64_t> shape = shape_of(arrays[0]);
    for (const auto& array : arrays) {
        if (shape_of(array) != shape) throw nb::value_error("arrays must have one shape");
        operands.push_back(operand_of(array));
    }
    switch (arrays.size()) {
        case 1: return count_combinations<1>(shape, operands, threads);
        case 2: return count_combinations<2>(shape, operands, threads);
        case 3: return count_combinations<3>(shape, operands, threads);
        case 4: return count_combinations<4>(shape, operands, threads);
        case 5: return count_combinations<5>(shape, operands, threads);
        case 6: return count_combinations<6>(shape, operands, threads);
        case 7: return count_combinations<7>(shape, operands, threads);
        case 8: return count_combinations<8>(shape, operands, threads);
        default: throw nb::value_error("at most eight arrays are counted together");
    }
}

using Geometry = std::tuple<Array<int64_t>, Array<int64_t>>;

Geometry segment_geometry(const LabelArray& labels, int threads) {
    if (labels.ndim() == 0 || threads < 1) throw nb::value_error("one axis and one thread at least");
    auto shape = shape_of(labels);
    auto image = operand_of(labels);
    SegmentTable table(shape.size());
    {
        nb::gil_scoped_release unlocked;
        table = scan_segments(shape, image, threads);
    }
    size_t n = table.labels.size(), width = table.width();
    return {to_numpy(std::move(table.labels), {n}), to_numpy(std::move(table.values), {n, width})};
}

template <typename D>
using Distances = nb::ndarray<D, nb::c_contig, nb::device::cpu>;

// Steps along each axis are in units, which are a fraction: numerator and denominator.
using Fraction = std::tuple<double, double>;

std::vector<double> weights_of(const FlatArray<double>& steps, size_t axes) {
    if (steps.shape(0) != axes) throw nb::value_error("one step per axis is needed");
    std::vector<double> weight;
    for (size_t axis = 0; axis < axes; ++axis) weight.push_back(steps(axis) * steps(axis));
    return weight;
}

Unit unit_of(const Fraction& unit) { return {std::get<0>(unit), std::get<1>(unit)}; }

template <size_t K>
void paint_combinations(const std::vector<int64_t>& shape, const std::vector<Operand>& operands,
                        const int64_t* keys, const FlatArray<int64_t>& numbers, int threads) {
    NumberTable<K> table(keys, numbers.data(), numbers.shape(0));
    switch (operands[0].width) {
        case 1: return paint<K, uint8_t>(shape, operands, table, threads);
        case 2: return paint<K, uint16_t>(shape, operands, table, threads);
        case 4: return paint<K, uint32_t>(shape, operands, table, threads);
        default: return paint<K, uint64_t>(shape, operands, table, threads);
    }
}

// `out` has the axes of all arrays, in an order in which its own last axis is contiguous.
void paint_numbers(const LabelArray& out, const std::vector<LabelArray>& arrays,
                   const nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& keys,
                   const FlatArray<int64_t>& numbers, int threads) {
    std::vector<Operand> operands{operand_of(out)};
    std::vector<int64_t> shape = shape_of(out);
    for (const auto& array : arrays) {
        if (shape_of(array) != shape) throw nb::value_error("arrays must have one shape");
        operands.push_back(operand_of(array));
    }
    for (int64_t n : shape)
        if (n == 0) return;  // strides of nothing are anything
    int64_t step = operands[0].width;
    for (size_t axis = shape.size(); axis-- > 0; step *= shape[axis])
        if (shape[axis] > 1 && operands[0].stride[axis] != step)
            throw nb::value_error("out must be C-contiguous");
    if (keys.shape(1) != arrays.size() || keys.shape(0) != numbers.shape(0) || threads < 1)
        throw nb::value_error("one key per array and one number per row are needed");
    nb::gil_scoped_release unlocked;
    switch (arrays.size()) {
        case 1: return paint_combinations<1>(shape, operands, keys.data(), numbers, threads);
        case 2: return paint_combinations<2>(shape, operands, keys.data(), numbers, threads);
        case 3: return paint_combinations<3>(shape, operands, keys.data(), numbers, threads);
        default: throw nb::value_error("one to three arrays are painted from");
    }
}

// `mask` has the axes of labels, in an order in which its own last axis is contiguous.
bool mark_objects(const LabelArray& mask, const LabelArray& labels, int threads) {
    auto out = operand_of(mask);
    auto shape = shape_of(labels);
    if (shape_of(mask) != shape || out.width != 1 || threads < 1)
        throw nb::value_error("mask must have one byte for every label");
    int64_t step = 1;
    for (size_t axis = shape.size(); axis-- > 0; step *= shape[axis])
        if (labels.size() > 0 && shape[axis] > 1 && out.stride[axis] != step)
            throw nb::value_error("mask must be C-contiguous");
    nb::gil_scoped_release unlocked;
    return fill_mask(shape, out, operand_of(labels), threads);
}

template <typename T, typename D>
void fill_distances(const Grid& grid, const Operand& image, bool border, D* out, int threads) {
    std::vector<int64_t> stride;
    for (int64_t bytes : image.stride) stride.push_back(bytes / image.width);
    EdgeDistance<T, D>(grid, reinterpret_cast<const T*>(image.data), stride, border)
        .fill(out, threads);
}

template <typename D>
void edge_distances(const LabelArray& labels, const FlatArray<double>& steps, const Fraction& unit,
                    bool border, const Distances<D>& out, int threads) {
    auto shape = shape_of(labels);
    auto image = operand_of(labels);
    bool same = out.ndim() == shape.size();
    for (size_t axis = 0; same && axis < shape.size(); ++axis)
        same = static_cast<int64_t>(out.shape(axis)) == shape[axis];
    if (!same || shape.empty() || threads < 1) throw nb::value_error("out must have the shape of labels");
    Grid grid{shape, weights_of(steps, shape.size()), unit_of(unit)};
    if (grid.size() == 0) return;
    if (image.stride.back() != image.width) throw nb::value_error("the last axis must be contiguous");
    nb::gil_scoped_release unlocked;
    switch (image.width) {
        case 1: return fill_distances<uint8_t, D>(grid, image, border, out.data(), threads);
        case 2: return fill_distances<uint16_t, D>(grid, image, border, out.data(), threads);
        case 4: return fill_distances<uint32_t, D>(grid, image, border, out.data(), threads);
        default: return fill_distances<uint64_t, D>(grid, image, border, out.data(), threads);
    }
}

bool distances_fit_float(const std::vector<int64_t>& shape, const FlatArray<double>& steps) {
    return exact_in_float(Grid{shape, weights_of(steps, shape.size())});
}

template <typename T>
void nearest_labels(const LabelArray& labels,
                    const nb::ndarray<T, nb::c_contig, nb::device::cpu>& regions,
                    const FlatArray<double>& weights,
                    const std::optional<nb::ndarray<const uint8_t, nb::c_contig, nb::device::cpu>>& where,
                    int threads) {
    Grid grid;
    for (size_t axis = 0; axis < regions.ndim(); ++axis) grid.shape.push_back(regions.shape(axis));
    grid.weight = to_vector(weights);
    if (grid.shape.empty() || grid.weight.size() != grid.shape.size() || threads < 1)
        throw nb::value_error("one axis, one weight per axis and one thread at least");
    if (where && where->size() != regions.size()) throw nb::value_error("where must have the shape of regions");
    auto image = operand_of(labels);
    if (shape_of(labels) != grid.shape || image.width != sizeof(T))
        throw nb::value_error("labels must have the shape and width of regions");
    nb::gil_scoped_release unlocked;
    fill_regions(grid, image, regions.data(), where ? where->data() : nullptr, threads);
}

template <typename T>
using Block = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

template <typename T>
std::vector<int64_t> block_shape(const Block<T>& block) {
    std::vector<int64_t> shape;
    for (size_t axis = 0; axis < block.ndim(); ++axis) shape.push_back(block.shape(axis));
    return shape;
}

template <typename T>
void nearest_sites(const Block<const T>& sites, const std::vector<int64_t>& offset,
                   const FlatArray<double>& weights, const Block<T>& labels,
                   const Block<double>& squares, int threads) {
    auto site_shape = block_shape(sites), point_shape = block_shape(labels);
    size_t axes = site_shape.size();
    if (axes == 0 || point_shape.size() != axes || offset.size() != axes || weights.shape(0) != axes)
        throw nb::value_error("sites and points must have the same axes");
    if (block_shape(squares) != point_shape || threads < 1)
        throw nb::value_error("labels and squares must have one shape");
    auto weight = to_vector(weights);
    nb::gil_scoped_release unlocked;
    see_sites<T>(sites.data(), site_shape, point_shape, offset, weight, labels.data(),
                 squares.data(), threads);
}

template <typename T>
std::tuple<Array<T>, Array<double>> nearest_where(const Block<T>& regions,
                                                  const FlatArray<double>& weights,
                                                  const Block<const uint8_t>& where, int threads) {
    Grid grid{block_shape(regions), to_vector(weights)};
    if (grid.shape.empty() || grid.weight.size() != grid.shape.size() || threads < 1)
        throw nb::value_error("one axis, one weight per axis and one thread at least");
    if (block_shape(where) != grid.shape) throw nb::value_error("where must have the shape of regions");
    typename NearestLabel<T, double>::Found found;
    {
        nb::gil_scoped_release unlocked;
        found = NearestLabel<T, double>(grid, regions.data(), threads).find_where(where.data());
    }
    return {flat(std::move(found.label)), flat(std::move(found.square))};
}

// Numbers and mask lie in one order, whose last axis is contiguous; `steps` has the steps of the
// axes in C order as the user gave them.
template <typename T>
void number_components(const Block<T>& numbers, const Block<const uint8_t>& mask,
                       const std::vector<int64_t>& steps, int64_t count, int threads) {
    auto shape = block_shape(numbers);
    if (shape.empty() || shape.size() > 3) throw nb::value_error("one to three axes");
    if (block_shape(mask) != shape || steps.size() != shape.size())
        throw nb::value_error("numbers and mask must have one shape, and one step per axis");
    if (count < 0 || threads < 1) throw nb::value_error("one thread at least");
    if (numbers.size() == 0) return;
    nb::gil_scoped_release unlocked;
    ComponentNumbers<T>(mask.data(), numbers.data(), shape, steps, count).sort(threads);
}

// `out` is 0 everywhere.
template <typename T>
int64_t label_components(const Block<const T>& labels, int reach, const Block<uint32_t>& out, int threads) {
    auto shape = block_shape(labels);
    if (shape.empty() || reach < 1 || threads < 1) throw nb::value_error("one axis, a reach of 1 and one thread at least");
    if (block_shape(out) != shape) throw nb::value_error("out must have the shape of labels");
    if (labels.size() == 0) return 0;
    nb::gil_scoped_release unlocked;
    return LabelComponents<T>(labels.data(), shape, reach).number(out.data(), threads);
}

// What is compiled for each width of labels.
template <typename T>
void bind_label_loops(nb::module_& m) {
    using namespace nb::literals;
    m.def("nearest_labels", &nearest_labels<T>, "labels"_a, "regions"_a.noconvert(), "weights"_a,
          "where"_a.none(), "threads"_a);
    m.def("nearest_where", &nearest_where<T>, "regions"_a.noconvert(), "weights"_a, "where"_a,
          "threads"_a);
    m.def("nearest_sites", &nearest_sites<T>, "sites"_a.noconvert(), "offset"_a, "weights"_a,
          "labels"_a.noconvert(), "squares"_a.noconvert(), "threads"_a);
    m.def("number_components", &number_components<T>, "numbers"_a.noconvert(), "mask"_a, "steps"_a,
          "count"_a, "threads"_a);
    m.def("label_components", &label_components<T>, "labels"_a.noconvert(), "reach"_a,
          "out"_a.noconvert(), "threads"_a);
}

using Ragged = std::tuple<Array<double>, Array<int64_t>>;

Ragged to_ragged(std::vector<SurfaceDistances>& all, UnfilledVector<double> SurfaceDistances::*side) {
    UnfilledVector<double> values;
    std::vector<int64_t> first{0};
    for (auto& object : all) {
        if (values.empty()) values = std::move(object.*side);
        else values.insert(values.end(), (object.*side).begin(), (object.*side).end());
        first.push_back(static_cast<int64_t>(values.size()));
    }
    return {flat(std::move(values)), flat(std::move(first))};
}

std::tuple<Ragged, Ragged> surface_distances(
    const LabelArray& reference, const LabelArray& prediction, const FlatArray<int64_t>& ref_label,
    const FlatArray<int64_t>& pred_first, const FlatArray<int64_t>& pred_label,
    const nb::ndarray<const int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>& box,
    const FlatArray<double>& steps, const Fraction& unit, int threads) {
    auto shape = shape_of(reference);
    size_t n = ref_label.shape(0);
    if (shape_of(prediction) != shape || shape.empty() || threads < 1)
        throw nb::value_error("arrays must have one shape");
    if (pred_first.shape(0) != n + 1 || box.shape(0) != n || box.shape(1) != shape.size() || box.shape(2) != 2)
        throw nb::value_error("one box and one range of labels per object are needed");
    for (size_t i = 0; i < n; ++i) {
        bool fits = pred_first(i) >= 0 && pred_first(i) <= pred_first(i + 1) &&
                    pred_first(i + 1) <= static_cast<int64_t>(pred_label.shape(0));
        for (size_t axis = 0; axis < shape.size(); ++axis)
            fits = fits && box(i, axis, 0) >= 0 && box(i, axis, 0) < box(i, axis, 1) &&
                   box(i, axis, 1) <= shape[axis];
        if (!fits) throw nb::value_error("boxes must lie within the image");
    }
    SurfaceMeter meter(operand_of(reference), operand_of(prediction),
                       weights_of(steps, shape.size()), unit_of(unit));
    std::vector<SurfaceDistances> found;
    {
        nb::gil_scoped_release unlocked;
        found = meter.measure({ref_label.data(), pred_first.data(), pred_label.data(), box.data(),
                               static_cast<int64_t>(n)}, threads);
    }
    return {to_ragged(found, &SurfaceDistances::from_ref), to_ragged(found, &SurfaceDistances::from_pred)};
}

}  // namespace

void bind_voxels(nb::module_& m) {
    using namespace nb::literals;
    m.def("joint_counts", &joint_counts, "arrays"_a, "threads"_a);
    m.def("paint_numbers", &paint_numbers, "out"_a.noconvert(), "arrays"_a, "keys"_a, "numbers"_a,
          "threads"_a);
    m.def("mark_objects", &mark_objects, "mask"_a.noconvert(), "labels"_a, "threads"_a);
    m.def("segment_geometry", &segment_geometry, "labels"_a, "threads"_a);
    m.def("edge_distances", &edge_distances<float>, "labels"_a, "steps"_a, "unit"_a, "border"_a,
          "out"_a.noconvert(), "threads"_a);
    m.def("edge_distances", &edge_distances<double>, "labels"_a, "steps"_a, "unit"_a, "border"_a,
          "out"_a.noconvert(), "threads"_a);
    m.def("distances_fit_float", &distances_fit_float, "shape"_a, "steps"_a);
    bind_label_loops<uint8_t>(m);
    bind_label_loops<uint16_t>(m);
    bind_label_loops<uint32_t>(m);
    bind_label_loops<uint64_t>(m);
    m.def("surface_distances", &surface_distances, "reference"_a, "prediction"_a, "ref_label"_a,
          "pred_first"_a, "pred_label"_a, "box"_a, "steps"_a, "unit"_a, "threads"_a);
}

}  // namespace panmatch
