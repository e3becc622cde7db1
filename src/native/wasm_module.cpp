// The module for WebAssembly: memory for blocks, the list of functions, and one entry for all calls.
#include <cstdlib>

#include "bindings.hpp"

namespace panmatch {
namespace {

nb::module_& functions() {
    static nb::module_ all = [] {
        nb::module_ made;
        bind_voxels(made);
        bind_graph(made);
        bind_parts(made);
        bind_masks(made);
        bind_files(made);
        bind_instances(made);
        return made;
    }();
    return all;
}

nb::Writer& answer() {
    static nb::Writer last;
    return last;
}

// Where each argument begins. They follow the number of the function and how many there are.
std::vector<char*> places(nb::Reader& from, char* block, size_t count) {
    std::vector<char*> at;
    for (size_t i = 0; i < count; ++i) at.push_back(block + from.whole());
    return at;
}

// The arrays that a call has written to, as they are now.
void write_arrays(const nb::Function& f, const std::vector<char*>& given, nb::Writer& out) {
    int64_t count = 0;
    for (const auto& one : f.args) count += one.written;
    out.whole(nb::kList);
    out.whole(count);
    for (size_t i = 0; i < given.size(); ++i) {
        if (!f.args[i].written) continue;
        nb::Reader from(given[i]);
        from.whole();
        out.value(from.numbers());
    }
}

}  // namespace
}  // namespace panmatch

#define PANMATCH_EXPORT(name) extern "C" __attribute__((export_name(name)))

// Nothing catches exceptions here, so a throw ends the call at once.
extern "C" void* __cxa_allocate_exception(size_t size) noexcept { return std::malloc(size); }
extern "C" void __cxa_throw(void*, void*, void (*)(void*)) { __builtin_trap(); }

PANMATCH_EXPORT("reserve") char* reserve(size_t bytes) {
    static std::vector<int64_t> block;
    block.resize(bytes / 8 + 1);
    return reinterpret_cast<char*>(block.data());
}

PANMATCH_EXPORT("last_error") const char* last_error() { return panmatch::nb::last_error(); }

PANMATCH_EXPORT("answer_bytes") size_t answer_bytes() { return panmatch::answer().bytes.size(); }

// One line per name: the name, and its arguments; those that are written to end with a star.
PANMATCH_EXPORT("signatures") const char* signatures() {
    static std::string text;
    text.clear();
    std::string before;
    for (const auto& function : panmatch::functions().functions) {
        if (function.name == before) continue;  // the same for another type
        before = function.name;
        text += function.name;
        for (const auto& one : function.args) text += std::string(" ") + one.name + (one.written ? "*" : "");
        text += "\n";
    }
    return text.c_str();
}

// The block: length of the name, the name in whole words, how many arguments, where each begins.
// The answer is a list of what the function returned, and of the arrays that it wrote to.
PANMATCH_EXPORT("call") const char* call(char* block) {
    using namespace panmatch;
    nb::Reader from(block);
    auto length = static_cast<size_t>(from.whole());
    std::string name(block + 8, length);
    nb::Reader rest(block + 8 + (length + 7) / 8 * 8);
    auto count = static_cast<size_t>(rest.whole());
    auto given = places(rest, block, count);
    for (bool convert : {false, true}) {
        for (const auto& function : functions().functions) {
            if (function.name != name) continue;
            answer().bytes.clear();
            answer().whole(nb::kList);
            answer().whole(2);
            if (!function.answer(function, given, convert, answer())) continue;
            write_arrays(function, given, answer());
            return answer().bytes.data();
        }
    }
    nb::last_error() = "no function takes such arguments";
    __builtin_trap();
}
