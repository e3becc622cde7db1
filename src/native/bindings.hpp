// What the bindings share: arrays in and out.
#pragma once

#if defined(PANMATCH_WASM)
#include "wasm_binding.hpp"
#else
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#endif

#include <optional>
#include <vector>

#include "strided.hpp"

namespace panmatch {

#if defined(PANMATCH_WASM)
namespace nb = wasm;
#else
namespace nb = nanobind;
#endif

using LabelArray = nb::ndarray<nb::ro, nb::device::cpu>;

template <typename T>
using Array = nb::ndarray<nb::numpy, T>;

template <typename T, typename A>
Array<T> to_numpy(std::vector<T, A>&& values, std::vector<size_t> shape) {
    using Values = std::vector<T, A>;
    auto* owned = new Values(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Values*>(p); });
    return Array<T>(owned->data(), shape.size(), shape.data(), owner);
}

inline Operand operand_of(const LabelArray& array) {
    auto code = array.dtype().code;
    if (code != (uint8_t)nb::dlpack::dtype_code::Int && code != (uint8_t)nb::dlpack::dtype_code::UInt)
        throw nb::type_error("label arrays must have an integer dtype");
    int width = array.dtype().bits / 8;
    Operand op{static_cast<const char*>(array.data()), width,
               code == (uint8_t)nb::dlpack::dtype_code::Int, {}};
    for (size_t axis = 0; axis < array.ndim(); ++axis)
        op.stride.push_back(array.stride(axis) * width);
    return op;
}

template <typename T, typename A>
Array<T> flat(std::vector<T, A>&& values) {
    size_t n = values.size();
    return to_numpy(std::move(values), {n});
}

template <typename T>
using FlatArray = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
std::vector<T> to_vector(const FlatArray<T>& column) {
    return std::vector<T>(column.data(), column.data() + column.shape(0));
}

inline std::vector<int64_t> shape_of(const LabelArray& array) {
    std::vector<int64_t> shape;
    for (size_t axis = 0; axis < array.ndim(); ++axis) shape.push_back(array.shape(axis));
    return shape;
}

inline void check_first(const FlatArray<int64_t>& first, size_t length) {
    bool fits = first.shape(0) > 0 && first(0) == 0 &&
                first(first.shape(0) - 1) == static_cast<int64_t>(length);
    for (size_t i = 1; fits && i < first.shape(0); ++i) fits = first(i - 1) <= first(i);
    if (!fits) throw nb::value_error("first must rise from 0 to the number of values");
}

inline void check_rows(const FlatArray<int64_t>& rows, size_t masks) {
    for (size_t i = 0; i < rows.shape(0); ++i)
        if (rows(i) < 0 || rows(i) >= static_cast<int64_t>(masks))
            throw nb::value_error("rows must name masks");
}

void bind_voxels(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_parts(nb::module_& m);
void bind_masks(nb::module_& m);
void bind_files(nb::module_& m);
void bind_instances(nb::module_& m);

}  // namespace panmatch
