// The part of nanobind that the bindings use, for WebAssembly: the same bindings then answer calls
// that come as bytes. A page has no Python headers to compile against; it sends a call as one block
// of memory and gets one back.
//
// A block is a row of 8-byte words. A value is its kind and then:
//   none | whole: int64 | real: double | truth: int64
//   array: kind of numbers ('i', 'u' or 'f'), bytes per number, axes, shape, data padded to 8 bytes
//   list: length, values
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace panmatch::wasm {

enum Kind : int64_t { kNone, kWhole, kReal, kTruth, kArray, kList };

// Exceptions cannot be caught here: the message is kept, and the call ends in a trap.
inline const char*& last_error() {
    static const char* message = "";
    return message;
}

struct value_error {
    explicit value_error(const char* message) { last_error() = message; }
};
using type_error = value_error;

struct gil_scoped_release {
    ~gil_scoped_release() {}
};

namespace dlpack {
enum class dtype_code : uint8_t { Int, UInt, Float };
struct dtype {
    uint8_t code, bits;
};
}  // namespace dlpack

template <typename T>
constexpr char letter_of() {
    return std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
}

// Numbers in memory, in C order. They are kept alive by `owner`, or by the block they came in.
struct Numbers {
    char letter = 'i';
    int64_t width = 8;
    std::vector<size_t> shape;
    void* data = nullptr;
    std::shared_ptr<void> owner = {};

    size_t size() const {
        size_t n = 1;
        for (size_t side : shape) n *= side;
        return n;
    }

    template <typename T>
    bool holds() const {
        return letter == letter_of<T>() && width == sizeof(T);
    }
};

struct ro {};
struct numpy {};
struct c_contig {};
template <int64_t N>
struct ndim {};
namespace device {
struct cpu {};
}

// What the template arguments of an array say: its numbers (void: any) and its axes (−1: any).
template <typename... Options>
struct Wanted {
    using Number = void;
    static constexpr int64_t axes = -1;
};
template <int64_t N, typename... Rest>
struct Wanted<ndim<N>, Rest...> : Wanted<Rest...> {
    static constexpr int64_t axes = N;
};
template <typename... Rest>
struct Wanted<ro, Rest...> : Wanted<Rest...> {};
template <typename... Rest>
struct Wanted<numpy, Rest...> : Wanted<Rest...> {};
template <typename... Rest>
struct Wanted<c_contig, Rest...> : Wanted<Rest...> {};
template <typename... Rest>
struct Wanted<device::cpu, Rest...> : Wanted<Rest...> {};
template <typename T, typename... Rest>
struct Wanted<T, Rest...> : Wanted<Rest...> {
    using Number = T;
};

struct capsule {
    std::shared_ptr<void> owner;
    template <typename Delete>
    capsule(void* held, Delete&& free) : owner(held, std::forward<Delete>(free)) {}
};

template <typename... Options>
class ndarray {
public:
    using Number = typename Wanted<Options...>::Number;
    static constexpr int64_t axes = Wanted<Options...>::axes;

    Numbers numbers;

    ndarray() = default;
    explicit ndarray(Numbers given) : numbers(std::move(given)) {}
    template <typename T>
    ndarray(T* data, size_t n, const size_t* shape, const capsule& owner)
        : numbers{letter_of<T>(), sizeof(T), {shape, shape + n}, data, owner.owner} {}

    size_t ndim() const { return numbers.shape.size(); }
    size_t shape(size_t axis) const { return numbers.shape[axis]; }
    size_t size() const { return numbers.size(); }
    Number* data() const { return static_cast<Number*>(numbers.data); }
    dlpack::dtype dtype() const {
        auto code = numbers.letter == 'f'   ? dlpack::dtype_code::Float
                    : numbers.letter == 'i' ? dlpack::dtype_code::Int
                                            : dlpack::dtype_code::UInt;
        return {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * numbers.width)};
    }
    int64_t stride(size_t axis) const {
        int64_t step = 1;
        for (size_t later = axis + 1; later < ndim(); ++later) step *= shape(later);
        return step;
    }
    template <typename... Index>
    auto& operator()(Index... index) const {
        size_t at = 0, axis = 0;
        ((at = at * numbers.shape[axis++] + static_cast<size_t>(index)), ...);
        return data()[at];
    }
};

// Reads one value after the other.
class Reader {
public:
    explicit Reader(char* at) : at_(at) {}

    int64_t kind() const { return peek(); }
    int64_t whole() {
        int64_t value = peek();
        at_ += 8;
        return value;
    }
    double real() {
        double value;
        std::memcpy(&value, at_, 8);
        at_ += 8;
        return value;
    }
    Numbers numbers() {
        Numbers found;
        found.letter = static_cast<char>(whole());
        found.width = whole();
        found.shape.resize(static_cast<size_t>(whole()));
        for (size_t& side : found.shape) side = static_cast<size_t>(whole());
        found.data = at_;
        at_ += (found.size() * found.width + 7) / 8 * 8;
        return found;
    }

private:
    char* at_;
    int64_t peek() const {
        int64_t value;
        std::memcpy(&value, at_, 8);
        return value;
    }
};

// Writes a block.
class Writer {
public:
    std::vector<char> bytes;

    void whole(int64_t value) { put(&value, 8); }
    void put(const void* from, size_t n) {
        bytes.insert(bytes.end(), static_cast<const char*>(from), static_cast<const char*>(from) + n);
    }
    void value(bool truth) {
        whole(kTruth);
        whole(truth);
    }
    void value(int64_t number) {
        whole(kWhole);
        whole(number);
    }
    void value(double number) {
        whole(kReal);
        put(&number, 8);
    }
    void value(const Numbers& array) {
        whole(kArray);
        whole(array.letter);
        whole(array.width);
        whole(static_cast<int64_t>(array.shape.size()));
        for (size_t side : array.shape) whole(static_cast<int64_t>(side));
        put(array.data, array.size() * array.width);
        bytes.resize((bytes.size() + 7) / 8 * 8);
    }
    template <typename... Options>
    void value(const ndarray<Options...>& array) {
        value(array.numbers);
    }
    template <typename... Values>
    void value(const std::tuple<Values...>& values) {
        whole(kList);
        whole(sizeof...(Values));
        std::apply([&](const auto&... each) { (value(each), ...); }, values);
    }
};

// One argument of a call: where it is, and whether its numbers may be converted.
struct Given {
    char* at;
    bool convert;
};

template <typename T, typename From>
Numbers converted_from(const Numbers& given) {
    auto made = std::make_shared<std::vector<std::remove_const_t<T>>>();
    const From* from = static_cast<const From*>(given.data);
    for (size_t i = 0; i < given.size(); ++i) made->push_back(static_cast<T>(from[i]));
    return {letter_of<std::remove_const_t<T>>(), sizeof(T), given.shape, made->data(), made};
}

// The same numbers with another type; real numbers never become whole ones.
template <typename T>
std::optional<Numbers> converted(const Numbers& given) {
    if (given.letter == 'f' && !std::is_floating_point_v<T>) return std::nullopt;
    int64_t which = given.letter == 'f' ? 8 + given.width : given.letter == 'u' ? 16 + given.width : given.width;
    switch (which) {
        case 1: return converted_from<T, int8_t>(given);
        case 2: return converted_from<T, int16_t>(given);
        case 4: return converted_from<T, int32_t>(given);
        case 8: return converted_from<T, int64_t>(given);
        case 12: return converted_from<T, float>(given);
        case 16: return converted_from<T, double>(given);
        case 17: return converted_from<T, uint8_t>(given);
        case 18: return converted_from<T, uint16_t>(given);
        case 20: return converted_from<T, uint32_t>(given);
        case 24: return converted_from<T, uint64_t>(given);
        default: return std::nullopt;
    }
}

template <typename T>
struct Cast;  // std::optional<T> read(Reader&, bool convert)

template <typename... Options>
struct Cast<ndarray<Options...>> {
    using Made = ndarray<Options...>;
    static std::optional<Made> read(Reader& from, bool convert) {
        if (from.whole() != kArray) return std::nullopt;
        Numbers given = from.numbers();
        if (Made::axes >= 0 && static_cast<int64_t>(given.shape.size()) != Made::axes) return std::nullopt;
        if constexpr (!std::is_void_v<typename Made::Number>) {
            using T = std::remove_const_t<typename Made::Number>;
            if (given.template holds<T>()) return Made(given);
            if (!convert) return std::nullopt;
            auto other = converted<T>(given);
            if (!other) return std::nullopt;
            return Made(*other);
        } else {
            return Made(given);
        }
    }
};

template <typename T>
std::optional<T> read_number(Reader& from) {
    int64_t kind = from.whole();
    if (kind == kReal) {
        double value = from.real();
        if (std::is_floating_point_v<T>) return static_cast<T>(value);
        return std::nullopt;
    }
    if (kind != kWhole && kind != kTruth) return std::nullopt;
    return static_cast<T>(from.whole());
}

template <>
struct Cast<int> {
    static std::optional<int> read(Reader& from, bool) { return read_number<int>(from); }
};
template <>
struct Cast<int64_t> {
    static std::optional<int64_t> read(Reader& from, bool) { return read_number<int64_t>(from); }
};
template <>
struct Cast<double> {
    static std::optional<double> read(Reader& from, bool) { return read_number<double>(from); }
};
template <>
struct Cast<bool> {
    static std::optional<bool> read(Reader& from, bool) { return read_number<bool>(from); }
};

template <typename T>
struct Cast<std::optional<T>> {
    static std::optional<std::optional<T>> read(Reader& from, bool convert) {
        if (from.kind() == kNone) return std::optional<T>();
        auto value = Cast<T>::read(from, convert);
        if (!value) return std::nullopt;
        return std::optional<T>(std::move(*value));
    }
};

template <typename T>
struct Cast<std::vector<T>> {
    static std::optional<std::vector<T>> read(Reader& from, bool convert) {
        if (from.whole() != kList) return std::nullopt;
        std::vector<T> values;
        for (int64_t left = from.whole(); left > 0; --left) {
            auto value = Cast<T>::read(from, convert);
            if (!value) return std::nullopt;
            values.push_back(std::move(*value));
        }
        return values;
    }
};

template <>
struct Cast<std::tuple<double, double>> {
    static std::optional<std::tuple<double, double>> read(Reader& from, bool) {
        if (from.whole() != kList || from.whole() != 2) return std::nullopt;
        auto first = read_number<double>(from), second = read_number<double>(from);
        if (!first || !second) return std::nullopt;
        return std::make_tuple(*first, *second);
    }
};

// The name of an argument. Arrays that may not be converted are those that a call writes to.
struct arg {
    const char* name;
    bool written = false;
    arg noconvert() const { return {name, true}; }
    arg none() const { return *this; }
};

namespace literals {
inline arg operator""_a(const char* name, size_t) { return {name}; }
}  // namespace literals

struct Function {
    std::string name;
    std::vector<arg> args;
    // Answers a call, or says that it does not take such arguments.
    bool (*answer)(const Function&, const std::vector<char*>&, bool convert, Writer&);
    void (*target)();

    bool may_convert(size_t i, bool convert) const { return convert && !args[i].written; }
};

template <typename Result, typename... Args>
struct Call {
    template <size_t... I>
    static bool answer(const Function& f, const std::vector<char*>& given, bool convert, Writer& out,
                       std::index_sequence<I...>) {
        std::tuple<std::optional<std::decay_t<Args>>...> cast{[&] {
            Reader from(given[I]);
            return Cast<std::decay_t<Args>>::read(from, f.may_convert(I, convert));
        }()...};
        if (!(std::get<I>(cast) && ...)) return false;
        auto target = reinterpret_cast<Result (*)(Args...)>(f.target);
        if constexpr (std::is_void_v<Result>) {
            target(*std::get<I>(cast)...);
            out.whole(kNone);
        } else {
            out.value(target(*std::get<I>(cast)...));
        }
        return true;
    }

    static bool run(const Function& f, const std::vector<char*>& given, bool convert, Writer& out) {
        return given.size() == sizeof...(Args) &&
               answer(f, given, convert, out, std::index_sequence_for<Args...>());
    }
};

class module_ {
public:
    std::vector<Function> functions;

    template <typename Result, typename... Args, typename... Names>
    void def(const char* name, Result (*target)(Args...), Names... names) {
        functions.push_back(
            {name, {names...}, &Call<Result, Args...>::run, reinterpret_cast<void (*)()>(target)});
    }
};

}  // namespace panmatch::wasm
