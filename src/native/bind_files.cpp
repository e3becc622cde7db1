// Bindings of decoders of compressed files.
#include "bindings.hpp"
#include "inflate.hpp"
#include "png.hpp"

namespace panmatch {
namespace {

using Bytes = FlatArray<uint8_t>;

// Bytes read and written, or −1 for both if the data is damaged or does not fit.
std::tuple<int64_t, int64_t> inflate_into(
    const Bytes& data, const nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& out) {
    nb::gil_scoped_release unlocked;
    Inflated found = inflate(data.data(), data.shape(0), out.data(), out.shape(0));
    if (!found.valid) return {-1, -1};
    return {static_cast<int64_t>(found.read), static_cast<int64_t>(found.written)};
}

template <typename T>
using Image = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Whether the pixels, which have B bytes in the file, could be decoded to `out`.
template <size_t B, typename T>
bool decode(const Bytes& data, const Image<T>& out) {
    nb::gil_scoped_release unlocked;
    return read_png_pixels<B>(data.data(), data.shape(0), out.shape(1), out.shape(0), out.data());
}

bool grey_pixels(const Bytes& data, int pixel_bytes, const Image<uint8_t>& out) {
    return pixel_bytes == 1 && decode<1>(data, out);
}

bool deep_grey_pixels(const Bytes& data, int pixel_bytes, const Image<uint16_t>& out) {
    return pixel_bytes == 2 && decode<2>(data, out);
}

bool colour_pixels(const Bytes& data, int pixel_bytes, const Image<uint32_t>& out) {
    return pixel_bytes == 3 && decode<3>(data, out);
}

}  // namespace

void bind_files(nb::module_& m) {
    using namespace nb::literals;
    m.def("inflate", &inflate_into, "data"_a, "out"_a.noconvert());
    m.def("png_pixels", &grey_pixels, "data"_a, "pixel_bytes"_a, "out"_a.noconvert());
    m.def("png_pixels", &deep_grey_pixels, "data"_a, "pixel_bytes"_a, "out"_a.noconvert());
    m.def("png_pixels", &colour_pixels, "data"_a, "pixel_bytes"_a, "out"_a.noconvert());
}

}  // namespace panmatch
