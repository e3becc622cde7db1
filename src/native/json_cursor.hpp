// A place in a JSON text, and the steps from there: strict, without recursion, never past the end.
// A step that meets anything else than it asks for returns false; the text then goes to a full parser.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "portability.hpp"

namespace panmatch {

struct JsonCursor {
    const uint8_t *at, *end;
    bool is_ascii = true;  // whether all keys and skipped strings were

    static constexpr int kMostDepth = 64;  // of a value that is skipped

    static bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }
    bool is(char what) const { return at < end && *at == static_cast<uint8_t>(what); }

    void space() {
        while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
    }

    // One character, with space before it.
    bool take(char what) {
        space();
        if (!is(what)) return false;
        ++at;
        return true;
    }

    // After a value of a list or an object: whether another one follows. `done` is set at its end.
    bool next(char closing, bool& done) {
        space();
        done = is(closing);
        if (!done && !is(',')) return false;
        ++at;
        return true;
    }

    bool word(std::string_view what) {
        if (static_cast<size_t>(end - at) < what.size()) return false;
        if (std::memcmp(at, what.data(), what.size()) != 0) return false;
        at += what.size();
        return true;
    }

    // A key without escapes, and its colon.
    bool key(std::string_view& found) {
        if (!take('"')) return false;
        const uint8_t* from = at;
        while (at < end && *at != '"') {
            if (*at == '\\' || *at < 0x20) return false;
            is_ascii &= *at < 0x80;
            ++at;
        }
        if (at == end) return false;
        found = {reinterpret_cast<const char*>(from), static_cast<size_t>(at - from)};
        ++at;
        return take(':');
    }

    // The end of a string whose opening quote was read: its last byte is found, but its escapes are
    // not looked at. The place is then that of the closing quote.
    bool string_end() {
        const uint8_t* from = at;
        while (at < end) {
            auto quote =
                static_cast<const uint8_t*>(std::memchr(at, '"', static_cast<size_t>(end - at)));
            if (quote == nullptr) return false;
            const uint8_t* slash = quote;
            while (slash > from && slash[-1] == '\\') --slash;
            at = quote;
            if ((quote - slash) % 2 == 0) return true;
            ++at;
        }
        return false;
    }

    // The bracket that closes the list whose opening one was read, where it holds numbers, or lists
    // of them; what is between the brackets is not looked at.
    bool list_end() {
        space();
        bool nested = is('[');
        while (at < end) {
            auto found = std::memchr(at, ']', static_cast<size_t>(end - at));
            if (found == nullptr) return false;
            at = static_cast<const uint8_t*>(found);
            if (!nested) return true;
            ++at;
            space();
            if (is(']')) return true;
        }
        return false;
    }

    // A value of any kind, of which only brackets and strings are looked at.
    bool pass_value() {
        space();
        for (int64_t depth = 0; at < end; ++at) {
            if (*at == '"') {
                ++at;
                if (!string_end()) return false;
                if (depth == 0) return ++at, true;
            } else if (*at == '[' || *at == '{') {
                ++depth;
            } else if (*at == ']' || *at == '}') {
                if (depth <= 1) return depth == 1 ? (++at, true) : true;
                --depth;
            } else if (depth == 0 && *at == ',') {
                return true;
            }
        }
        return false;
    }

    // A value of any kind that is valid.
    bool skip_value() {
        bool objects[kMostDepth];
        for (int depth = 0;;) {
            space();
            if (is('[') || is('{')) {
                if (depth == kMostDepth) return false;
                bool object = objects[depth++] = *at++ == '{';
                space();
                if (!is(object ? '}' : ']')) {
                    if (object && !skip_key()) return false;
                    continue;
                }
            } else {
                if (!skip_plain()) return false;
                if (depth == 0) return true;
            }
            for (;;) {  // after a value, or at the end of an empty one
                bool done = false;
                if (!next(objects[depth - 1] ? '}' : ']', done)) return false;
                if (!done) {
                    if (objects[depth - 1] && !skip_key()) return false;
                    break;
                }
                if (--depth == 0) return true;
            }
        }
    }

    // A whole number of at most 18 digits.
    bool whole(int64_t& value) {
        space();
        bool negative = is('-');
        at += negative;
        const uint8_t* from = at;
        uint64_t digits = 0;
        for (; at < end && is_digit(*at); ++at) digits = digits * 10 + (*at & 15);
        if (at == from || at - from > 18 || (*from == '0' && at - from > 1)) return false;
        if (at < end && (*at == '.' || *at == 'e' || *at == 'E')) return false;
        value = negative ? -static_cast<int64_t>(digits) : static_cast<int64_t>(digits);
        return true;
    }

    // A finite number, rounded as every correct program rounds it.
    bool number(double& value) {
        space();
        if (kPlain && short_number(value)) return true;
        const uint8_t* begin = at;
        bool negative = is('-');
        at += negative;
        const uint8_t* from = at;
        uint64_t digits = 0;
        for (; at < end && is_digit(*at); ++at) digits = digits * 10 + (*at & 15);
        int64_t n = at - from, power = 0;
        if (n == 0 || (*from == '0' && n > 1)) return false;
        bool real = false;
        if (is('.')) {
            real = true;
            const uint8_t* point = at++;
            for (; at < end && is_digit(*at); ++at) digits = digits * 10 + (*at & 15);
            power = point + 1 - at;
            if (power == 0) return false;
            n -= power;
        }
        if (at < end && (*at == 'e' || *at == 'E')) {
            real = true;
            if (!exponent(power)) return false;
        }
        if (!real && n > 18) return false;  // a whole number, which others keep exactly
        bool exact = n <= 19 && digits <= uint64_t{1} << 53 && power >= -22 && power <= 22 && kPlain;
        if (!exact && !(n <= 19 && long_number(digits, power, value))) return slowly(begin, value);
        if (exact) {
            value = static_cast<double>(digits);  // exact, so that one rounding remains
            value = power < 0 ? value / kTen[-power] : value * kTen[power];
        }
        if (negative && (real || digits > 0)) value = -value;
        return true;
    }

private:
    static constexpr bool kPlain = FLT_EVAL_METHOD == 0;
    static constexpr double kTen[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

    // A number such as 407.25: digits, a point, digits, and something else, in eight bytes. All of
    // them are looked at together. The place does not change where it is any other number.
    bool short_number(double& value) {
        constexpr uint64_t kOnes = 0x0101010101010101u;
        if (end - at < 8) return false;
        uint64_t digit = little_endian_word(at) ^ '0' * kOnes;
        uint64_t others = (digit | ((digit & 0x7F * kOnes) + 0x76 * kOnes)) & 0x80 * kOnes;  // no digits
        uint64_t after = others & (others - 1);
        if (after == 0) return false;
        int point = lowest_bit(others) & ~7, stop = lowest_bit(after) & ~7;  // in bits
        bool zero_first = (digit & 0xFF) == 0 && point > 8;
        if (at[point / 8] != '.' || point == 0 || stop == point + 8 || zero_first) return false;
        if ((at[stop / 8] | 0x20) == 'e') return false;
        uint64_t whole = digit & ((uint64_t{1} << point) - 1);
        uint64_t digits = (digit >> 8 >> point << point | whole) << (72 - stop);
        digits = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FFu;
        digits = (digits * 100 + (digits >> 16)) & 0x0000FFFF0000FFFFu;
        digits = (digits * 10000 + (digits >> 32)) & 0xFFFFFFFFu;
        value = static_cast<double>(digits) / kTen[(stop - point) / 8 - 1];
        at += stop / 8;
        return true;
    }

    // Where a long double is wide enough to leave no doubt about the rounding.
    static bool long_number(uint64_t digits, int64_t power, double& value) {
#if LDBL_MANT_DIG == 64
        if (power < -27 || power > 0) return false;
        long double wide = static_cast<long double>(digits), ten = 1;
        for (int64_t i = power; i < 0; ++i) ten *= 10;  // exact
        wide /= ten;
        long double error = wide * LDBL_EPSILON;
        value = static_cast<double>(wide - error);
        return value == static_cast<double>(wide + error);
#else
        (void)digits, (void)power, (void)value;
        return false;
#endif
    }

    bool exponent(int64_t& power) {
        ++at;
        bool below = is('-');
        at += below || is('+');
        const uint8_t* from = at;
        int64_t digits = 0;
        for (; at < end && is_digit(*at); ++at)
            if (digits < 100000) digits = digits * 10 + (*at & 15);
        power += below ? -digits : digits;
        return at > from;
    }

    // The library reads it to the last bit, unless a locale has another sign than the point.
    bool slowly(const uint8_t* begin, double& value) const {
        std::string text(reinterpret_cast<const char*>(begin), static_cast<size_t>(at - begin));
        char* stop = nullptr;
        value = std::strtod(text.c_str(), &stop);
        return stop == text.c_str() + text.size() && std::isfinite(value);
    }

    bool skip_key() { return take('"') && skip_string() && take(':'); }

    // The rest of a string whose opening quote was read.
    bool skip_string() {
        for (; at < end && *at != '"'; ++at) {
            if (*at < 0x20) return false;
            is_ascii &= *at < 0x80;
            if (*at == '\\' && !skip_escape()) return false;
        }
        if (at == end) return false;
        ++at;
        return true;
    }

    bool skip_escape() {
        if (++at == end) return false;
        if (*at != 'u') return std::memchr("\"\\/bfnrt", *at, 8) != nullptr;
        for (int i = 0; i < 4; ++i) {
            if (++at == end) return false;
            uint8_t low = *at | 0x20;
            if (!is_digit(*at) && !(low >= 'a' && low <= 'f')) return false;
        }
        return true;
    }

    bool skip_plain() {
        if (is('"')) return ++at, skip_string();
        if (is('t')) return word("true");
        if (is('f')) return word("false");
        if (is('n')) return word("null");
        double value = 0;
        return number(value);
    }
};

}  // namespace panmatch
