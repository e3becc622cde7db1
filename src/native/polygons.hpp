// Polygons to runs, with the rounding of the COCO programs: the outline is drawn on a grid that is
// five times finer, and a pixel belongs to the polygon if its centre does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "runs.hpp"

namespace panmatch {

// One side of an outline, on the fine grid, from left to right.
struct Side {
    int64_t x0, y0, x1, y1;

    int64_t across() const { return x1 - x0; }
    int64_t down() const { return y1 - y0; }
    bool is_steep() const { return std::llabs(down()) > across(); }

    // The row above which it crosses a column. Its points are those of the COCO programs: the longer
    // axis advances in steps of one, counted from its lower end. Only the step between fine columns
    // 5c + 2 and 5c + 3 matters: there it crosses the centres of the pixels of column c.
    int64_t row_at(int64_t column) const {
        int64_t y = is_steep() ? steep_at(5 * column + 3) : flat_at(5 * column + 2);
        return y <= 2 ? 0 : (y + 2) / 5;
    }

private:
    static int64_t rounded(int64_t from, double along) {
        return static_cast<int64_t>(static_cast<double>(from) + along + 0.5);
    }

    // The smaller row of the two ends of the step from x to x + 1.
    int64_t flat_at(int64_t x) const {
        double slope = static_cast<double>(down()) / static_cast<double>(across());
        return rounded(y0, slope * static_cast<double>(x + (slope < 0) - x0));
    }

    // The last row before the step to x, or from it.
    int64_t steep_at(int64_t x) const {
        int64_t steps = std::llabs(down()), from = down() < 0 ? x1 : x0;
        double slope = static_cast<double>(across()) / static_cast<double>(down());
        auto is_beyond = [&](int64_t t) {
            return (rounded(from, slope * static_cast<double>(t)) >= x) == (slope > 0);
        };
        double guess = (static_cast<double>(x - from) - 0.5) / slope;
        int64_t t = std::min(std::max(static_cast<int64_t>(guess), int64_t{1}), steps);
        while (t > 1 && is_beyond(t - 1)) --t;
        while (t < steps && !is_beyond(t)) ++t;
        return std::min(y0, y1) + t - 1;
    }
};

// The rows where a side crosses some columns, one after the other: from column to column they change
// by as much as the side falls. They have 16 binary places, and each step adds an error below the last
// of these, so that only a row close to an edge is in doubt: rounding can change no other.
class SideSteps {
public:
    // Whether rows and columns are so few that 32 bits hold all numbers.
    static bool fits(const Side& side, size_t columns) {
        constexpr int64_t kMost = 1 << 13;
        int64_t down = std::llabs(side.down());
        return columns < kMost && down < 5 * kMost && down < kMost * side.across();
    }

    // Begins at a column, and goes to the right, or back.
    SideSteps(const Side& side, int64_t column, bool back, size_t columns)
        : base_((back ? side.y1 : side.y0) / 5), doubt_(static_cast<int32_t>(columns) + 2) {
        int64_t across = side.across(), down = side.down(), steep = side.is_steep();
        int64_t middle = steep ? 5 : 4 + 2 * (down < 0);
        int64_t sum = (10 * column + middle - 2 * side.x0) * down +
                      (2 * side.y0 + 5 - steep - 10 * base_) * across;
        double inverse = static_cast<double>(kOne) / static_cast<double>(across);
        at_ = static_cast<uint32_t>(static_cast<int32_t>(static_cast<double>(sum) * (inverse * 0.1)));
        fall_ = static_cast<uint32_t>(static_cast<int32_t>(static_cast<double>(back ? -down : down) * inverse));
    }

    // Writes n rows, none above 0 or below the height, and up to three more. Returns whether one may be
    // in doubt. Four at a time, which compilers turn into vector instructions.
    bool write(int32_t* row, size_t n, int64_t height) const {
        const int32_t base = static_cast<int32_t>(base_), lowest = static_cast<int32_t>(height);
        uint32_t at[4] = {at_, at_ + fall_, at_ + 2 * fall_, at_ + 3 * fall_};
        int32_t nearest[4] = {kOne, kOne, kOne, kOne};
        for (size_t i = 0; i < n; i += 4)
            for (int k = 0; k < 4; ++k) {
                int32_t here = base + (static_cast<int32_t>(at[k]) >> kPlaces);
                row[i + k] = std::min(std::max(here, 0), lowest);
                nearest[k] = std::min(nearest[k], to_edge(at[k]));
                at[k] += 4 * fall_;
            }
        return std::min(std::min(nearest[0], nearest[1]), std::min(nearest[2], nearest[3])) < 2 * doubt_;
    }

    // Whether a row may be the edge between two rows exactly: rounding then decides which it is.
    bool is_doubtful(size_t i) const {
        return to_edge(at_ + static_cast<uint32_t>(i) * fall_) < 2 * doubt_;
    }

private:
    static constexpr int kPlaces = 16;
    static constexpr int32_t kOne = 1 << kPlaces;
    int64_t base_;  // rows are counted from this one
    uint32_t at_, fall_;
    int32_t doubt_;

    // How far a row is below an edge, or below a place so far above it that all errors are smaller.
    int32_t to_edge(uint32_t at) const {
        return static_cast<int32_t>(at + static_cast<uint32_t>(doubt_)) & (kOne - 1);
    }
};

class PolygonPainter {
public:
    void start(int64_t height, int64_t width) {
        height_ = height;
        width_ = width;
    }

    // `xy` holds n corners. Pixels are numbered down the columns, as in the COCO formats.
    void add(const double* xy, int64_t n) {
        int64_t x = grid(xy[2 * n - 2]), y = grid(xy[2 * n - 1]);
        for (int64_t i = 0; i < n; ++i) {
            int64_t next_x = grid(xy[2 * i]), next_y = grid(xy[2 * i + 1]);
            draw(x, y, next_x, next_y);
            x = next_x;
            y = next_y;
        }
        collect();
        ++polygons_;
    }

    // Adds the union of the polygons as one mask.
    template <typename V>
    void finish(Runs<V>& runs) {
        if (polygons_ > 1)
            std::sort(pieces_.begin(), pieces_.begin() + n_,
                      [](const Piece& one, const Piece& other) { return one.start < other.start; });
        typename Runs<V>::Mask mask(runs, static_cast<size_t>(n_));
        for (int64_t i = 0; i < n_;) {
            int64_t start = pieces_[i].start, stop = pieces_[i].stop;
            for (++i; i < n_ && pieces_[i].start <= stop; ++i) stop = std::max(stop, pieces_[i].stop);
            mask.add(start, stop);
        }
        mask.finish();
        n_ = polygons_ = 0;
    }

private:
    static constexpr double kFiner = 5.0;
    static constexpr size_t kMore = 3;  // rows that may be written in vain

    struct Piece {
        int64_t start, stop;
    };

    // A part of the outline that goes in one direction: it crosses the columns low … high once each,
    // at the rows from `first` on, in the order in which it comes to them.
    struct Chain {
        int64_t low, high;
        size_t first;
        bool back;

        const int32_t* at(int64_t column, const int32_t* rows) const {
            return rows + first + (back ? high - column : column - low);
        }
    };

    // A chain that crosses the columns at hand, and its row at the next of them.
    struct Active {
        const int32_t* row;
        int64_t step, high;
    };

    int64_t height_ = 0, width_ = 0, polygons_ = 0;
    std::vector<Chain> chains_;
    std::vector<int32_t> rows_;  // of which the first n_rows_ are in use
    size_t n_rows_ = 0;
    std::vector<Active> active_;
    std::vector<int32_t> crossed_;  // rows of one column
    std::vector<Piece> pieces_;     // of which the first n_ are in use
    int64_t n_ = 0;

    static int64_t grid(double coordinate) {
        return static_cast<int64_t>(kFiner * coordinate + 0.5);
    }

    void draw(int64_t x0, int64_t y0, int64_t x1, int64_t y1) {
        bool back = x0 > x1;
        Side side{back ? x1 : x0, back ? y1 : y0, back ? x0 : x1, back ? y0 : y1};
        int64_t low = side.x0 <= 2 ? 0 : (side.x0 + 2) / 5;
        int64_t high = side.x1 < 3 ? -1 : std::min((side.x1 - 3) / 5, width_ - 1);
        if (low > high) return;
        if (chains_.empty() || chains_.back().back != back) chains_.push_back({low, high, n_rows_, back});
        Chain& chain = chains_.back();
        chain.low = std::min(chain.low, low);
        chain.high = std::max(chain.high, high);
        size_t n = static_cast<size_t>(high - low + 1);
        if (rows_.size() < n_rows_ + n + kMore) rows_.resize(2 * (n_rows_ + n) + kMore);
        cross(side, back ? high : low, back, n);
        n_rows_ += n;
    }

    // Notes the rows above which a side crosses n columns.
    void cross(const Side& side, int64_t column, bool back, size_t n) {
        int32_t* row = rows_.data() + n_rows_;
        auto row_at = [&](size_t i) {
            int64_t found = side.row_at(back ? column - static_cast<int64_t>(i) : column + static_cast<int64_t>(i));
            return static_cast<int32_t>(std::min(found, height_));
        };
        if (!SideSteps::fits(side, n)) {
            for (size_t i = 0; i < n; ++i) row[i] = row_at(i);
            return;
        }
        SideSteps steps(side, column, back, n);
        if (!steps.write(row, n, height_)) return;
        for (size_t i = 0; i < n; ++i)
            if (steps.is_doubtful(i)) row[i] = row_at(i);
    }

    // Goes from left to right over the columns, between two places where a chain begins or ends.
    void collect() {
        std::sort(chains_.begin(), chains_.end(),
                  [](const Chain& one, const Chain& other) { return one.low < other.low; });
        size_t next = 0;
        for (int64_t column = 0, end = 0; next < chains_.size() || !active_.empty(); column = end) {
            if (active_.empty()) column = chains_[next].low;
            for (; next < chains_.size() && chains_[next].low == column; ++next) {
                const Chain& one = chains_[next];
                active_.push_back({one.at(column, rows_.data()), one.back ? -1 : 1, one.high});
            }
            end = next < chains_.size() ? chains_[next].low : width_;
            for (const Active& one : active_) end = std::min(end, one.high + 1);
            make_room((end - column) * static_cast<int64_t>(active_.size() / 2));
            if (active_.size() == 2) add_columns(column, end);
            else if (active_.size() == 4) add_columns_of_four(column, end);
            else for (int64_t at = column; at < end; ++at) add_column(at);
            active_.erase(std::remove_if(active_.begin(), active_.end(),
                                         [end](const Active& one) { return one.high < end; }),
                          active_.end());
        }
        chains_.clear();
        n_rows_ = 0;
    }

    // Two chains: inside is between them.
    void add_columns(int64_t column, int64_t end) {
        Active &one = active_[0], &other = active_[1];
        Piece* piece = pieces_.data() + n_;
        for (int64_t pixel = column * height_; column < end; ++column, pixel += height_) {
            auto [top, bottom] = std::minmax(*one.row, *other.row);
            piece = add_piece(pixel + top, pixel + bottom, piece);
            one.row += one.step;
            other.row += other.step;
        }
        n_ = piece - pieces_.data();
    }

    // Four chains, sorted without a branch.
    void add_columns_of_four(int64_t column, int64_t end) {
        Active* active = active_.data();
        Piece* piece = pieces_.data() + n_;
        for (int64_t pixel = column * height_; column < end; ++column, pixel += height_) {
            int32_t row[4];
            for (int k = 0; k < 4; ++k) {
                row[k] = *active[k].row;
                active[k].row += active[k].step;
            }
            auto sort = [&row](int i, int j) {
                int32_t low = std::min(row[i], row[j]);
                row[j] = std::max(row[i], row[j]);
                row[i] = low;
            };
            sort(0, 1), sort(2, 3), sort(0, 2), sort(1, 3), sort(1, 2);
            piece = add_piece(pixel + row[0], pixel + row[1], piece);
            piece = add_piece(pixel + row[2], pixel + row[3], piece);
        }
        n_ = piece - pieces_.data();
    }

    // Every column is crossed an even number of times: inside is between the first and the second
    // crossing, the third and the fourth, and so on.
    void add_column(int64_t column) {
        crossed_.clear();
        for (Active& one : active_) {
            crossed_.push_back(*one.row);
            one.row += one.step;
        }
        std::sort(crossed_.begin(), crossed_.end());
        Piece* piece = pieces_.data() + n_;
        for (size_t i = 1; i < crossed_.size(); i += 2)
            piece = add_piece(column * height_ + crossed_[i - 1], column * height_ + crossed_[i], piece);
        n_ = piece - pieces_.data();
    }

    void make_room(int64_t more) {
        if (static_cast<int64_t>(pieces_.size()) < n_ + more) pieces_.resize(2 * (n_ + more));
    }

    // Without a branch: an empty piece is overwritten by the next. Returns the place of that.
    static Piece* add_piece(int64_t start, int64_t stop, Piece* piece) {
        piece->start = start;
        piece->stop = stop;
        return piece + (start < stop);
    }
};

}  // namespace panmatch
