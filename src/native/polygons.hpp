// Polygons to runs, with the rounding of the COCO programs: the outline is drawn on a grid that is
// five times finer, and a pixel belongs to the polygon if its centre does.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "runs.hpp"

namespace panmatch {

class PolygonPainter {
public:
    PolygonPainter(int64_t height, int64_t width) : height_(height), width_(width) {}

    // `xy` holds n corners. Pixels are numbered down the columns, as in the COCO formats.
    void add(const double* xy, int64_t n) {
        crossings_.clear();
        for (int64_t i = 0; i < n; ++i) {
            int64_t next = (i + 1) % n;
            draw(grid(xy[2 * i]), grid(xy[2 * i + 1]), grid(xy[2 * next]), grid(xy[2 * next + 1]));
        }
        std::sort(crossings_.begin(), crossings_.end());
        int64_t end = height_ * width_;
        for (size_t i = 0; i < crossings_.size(); i += 2) {
            int64_t stop = i + 1 < crossings_.size() ? crossings_[i + 1] : end;
            if (crossings_[i] < stop) pieces_.push_back({crossings_[i], stop});
        }
    }

    // Adds the union of the polygons as one mask.
    void finish(Runs& runs) {
        std::sort(pieces_.begin(), pieces_.end(),
                  [](const Piece& one, const Piece& other) { return one.start < other.start; });
        for (size_t i = 0; i < pieces_.size();) {
            int64_t start = pieces_[i].start, stop = pieces_[i].stop;
            for (++i; i < pieces_.size() && pieces_[i].start <= stop; ++i)
                stop = std::max(stop, pieces_[i].stop);
            runs.add(start, stop);
        }
        runs.finish_mask();
        pieces_.clear();
    }

private:
    static constexpr double kFiner = 5.0;

    struct Piece {
        int64_t start, stop;
    };

    int64_t height_, width_;
    std::vector<int64_t> crossings_;  // where a column enters or leaves the polygon
    std::vector<Piece> pieces_;

    static int64_t grid(double coordinate) {
        return static_cast<int64_t>(kFiner * coordinate + 0.5);
    }

    // One side of the outline, point by point in the order from (x0, y0) to (x1, y1). The longer
    // axis advances in steps of one, always counted from its lower end.
    void draw(int64_t x0, int64_t y0, int64_t x1, int64_t y1) {
        int64_t dx = std::llabs(x1 - x0), dy = std::llabs(y1 - y0), steps = std::max(dx, dy);
        if (dx == 0) return;  // no step to another column
        bool flat = dx >= dy, back = flat ? x0 > x1 : y0 > y1;
        int64_t low_x = back ? x1 : x0, low_y = back ? y1 : y0;
        double slope = static_cast<double>(flat ? (back ? y0 - y1 : y1 - y0)
                                                : (back ? x0 - x1 : x1 - x0)) /
                       static_cast<double>(steps);
        int64_t last_x = 0, last_y = 0;
        for (int64_t d = 0; d <= steps; ++d) {
            int64_t t = back ? steps - d : d;
            double along = slope * static_cast<double>(t);
            int64_t x = flat ? low_x + t : rounded(low_x, along);
            int64_t y = flat ? rounded(low_y, along) : low_y + t;
            if (d > 0 && x != last_x) cross(std::min(x, last_x), std::min(y, last_y));
            last_x = x, last_y = y;
        }
    }

    static int64_t rounded(int64_t from, double along) {
        return static_cast<int64_t>(static_cast<double>(from) + along + 0.5);
    }

    // The outline steps from fine column `x` to the next one, or back, at fine row `y`.
    void cross(int64_t x, int64_t y) {
        double column = (static_cast<double>(x) + 0.5) / kFiner - 0.5;
        if (std::floor(column) != column || column < 0 || column > static_cast<double>(width_ - 1))
            return;
        double row = (static_cast<double>(y) + 0.5) / kFiner - 0.5;
        row = std::ceil(std::min(std::max(row, 0.0), static_cast<double>(height_)));
        crossings_.push_back(static_cast<int64_t>(column) * height_ + static_cast<int64_t>(row));
    }
};

}  // namespace panmatch
