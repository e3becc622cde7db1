// COCO instances from a JSON text, in two steps: the rows of a list of annotations, which say where
// their segmentations are, and the runs of these. Both are strict, and leave anything unusual
// (other types, keys that come twice, numbers out of range) to a full parser.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "json_cursor.hpp"
#include "polygons.hpp"
#include "run_pairs.hpp"
#include "runs.hpp"

namespace panmatch {

enum Given : uint8_t {
    kImage = 1, kCategory = 2, kArea = 4, kCrowd = 8, kScore = 16, kBox = 32, kSegmentation = 64,
};

enum Written : uint8_t { kNothing, kText, kLengths, kPolygons };

// One instance. Its segmentation is in the text from `begin` up to `end`: what is between the quotes
// of a text, or a list with its brackets.
struct InstanceRow {
    int64_t image = 0, category = 0, begin = 0, end = 0, height = 0, width = 0;
    double area = 0, score = 0, box[4] = {0, 0, 0, 0};
    uint8_t given = 0, written = kNothing, crowd = 0;
};

// The same, column by column.
struct InstanceRows {
    std::vector<int64_t> image, category, span_begin, span_end, stated;  // stated: height and width
    std::vector<double> area, score, boxes;                              // boxes: four per row
    std::vector<uint8_t> given, written, crowd;
    int64_t begin = 0, end = 0;  // of the list of annotations in the text
    bool is_ascii = true;        // whether keys and strings in it are

    size_t size() const { return image.size(); }

    void add(const InstanceRow& row) {
        image.push_back(row.image);
        category.push_back(row.category);
        span_begin.push_back(row.begin);
        span_end.push_back(row.end);
        stated.insert(stated.end(), {row.height, row.width});
        area.push_back(row.area);
        score.push_back(row.score);
        boxes.insert(boxes.end(), row.box, row.box + 4);
        given.push_back(row.given);
        written.push_back(row.written);
        crowd.push_back(row.crowd);
    }

    // Makes room for so many rows: memory that is moved as it grows costs more than to read them.
    void reserve(size_t n) {
        for (auto* column : {&image, &category, &span_begin, &span_end}) column->reserve(n);
        stated.reserve(2 * n);
        for (auto* column : {&area, &score}) column->reserve(n);
        boxes.reserve(4 * n);
        for (auto* column : {&given, &written, &crowd}) column->reserve(n);
    }
};

// Reads a list of annotations, or the one under that key of an object. What else the object holds is
// not looked at: the caller parses it, with an empty list in place of the annotations.
class InstanceReader {
public:
    InstanceReader(const uint8_t* text, size_t size)
        : text_(text), json_{text, text + size} {}

    bool read(InstanceRows& found) {
        json_.space();
        if (json_.is('[')) return list(found);
        bool done = false, met = false;
        if (!json_.take('{')) return false;
        while (!done) {
            std::string_view key;
            if (!json_.key(key)) return false;
            if (key == "annotations") {
                json_.space();
                if (met || !list(found)) return false;
                met = true;
            } else if (!json_.pass_value()) {
                return false;
            }
            if (!json_.next('}', done)) return false;
        }
        return met;
    }

private:
    static constexpr size_t kFirstRows = 256;
    const uint8_t* text_;
    JsonCursor json_;

    bool list(InstanceRows& found) {
        found.begin = json_.at - text_;
        json_.is_ascii = true;
        if (!json_.take('[')) return false;
        json_.space();
        bool done = json_.is(']');
        json_.at += done;
        while (!done) {
            InstanceRow row;
            if (!object(row) || !json_.next(']', done)) return false;
            found.add(row);
            if (found.size() == kFirstRows) expect(found);
        }
        found.end = json_.at - text_;
        found.is_ascii = json_.is_ascii;
        return true;
    }

    // Makes room for all rows, if the rest of the text is like what was read.
    void expect(InstanceRows& found) const {
        const uint8_t* list = text_ + found.begin;
        double share = static_cast<double>(json_.end - list) / static_cast<double>(json_.at - list);
        found.reserve(static_cast<size_t>(kFirstRows * share * 1.06) + 1);
    }

    bool object(InstanceRow& row) {
        bool done = false;
        if (!json_.take('{')) return false;
        while (!done) {
            std::string_view key;
            if (!json_.key(key) || !value(key, row) || !json_.next('}', done)) return false;
        }
        return (row.given & (kImage | kCategory)) == (kImage | kCategory);
    }

    bool value(std::string_view key, InstanceRow& row) {
        if (key == "segmentation") return once(row, kSegmentation) && segmentation(row);
        if (key == "image_id") return once(row, kImage) && json_.whole(row.image);
        if (key == "category_id") return once(row, kCategory) && json_.whole(row.category);
        if (key == "bbox") return once(row, kBox) && box(row);
        if (key == "area") return once(row, kArea) && json_.number(row.area);
        if (key == "score") return once(row, kScore) && json_.number(row.score);
        if (key == "iscrowd") return once(row, kCrowd) && crowd(row);
        return json_.skip_value();
    }

    static bool once(InstanceRow& row, Given what) {
        if ((row.given & what) != 0) return false;
        row.given = static_cast<uint8_t>(row.given | what);
        return true;
    }

    bool crowd(InstanceRow& row) {
        json_.space();
        if (json_.is('t') || json_.is('f')) {
            row.crowd = json_.is('t');
            return json_.word(row.crowd ? "true" : "false");
        }
        int64_t value = 0;
        if (!json_.whole(value)) return false;
        row.crowd = value != 0;
        return true;
    }

    bool box(InstanceRow& row) {
        if (!json_.take('[')) return false;
        for (int i = 0; i < 4; ++i) {
            bool done = false;
            if (!json_.number(row.box[i]) || !json_.next(']', done) || done != (i == 3))
                return false;
        }
        return true;
    }

    bool segmentation(InstanceRow& row) {
        json_.space();
        if (json_.is('[')) return span(row, kPolygons);
        if (!json_.take('{')) return false;
        bool sized = false, counted = false, done = false;
        while (!done) {
            std::string_view key;
            if (!json_.key(key)) return false;
            if (key == "size" && !sized) sized = size(row);
            else if (key == "counts" && !counted) counted = counts(row);
            else return false;
            if (!(key == "size" ? sized : counted) || !json_.next('}', done)) return false;
        }
        return sized && counted;
    }

    bool size(InstanceRow& row) {
        bool done = false;
        return json_.take('[') && json_.whole(row.height) && json_.next(']', done) && !done &&
               json_.whole(row.width) && json_.next(']', done) && done;
    }

    bool counts(InstanceRow& row) {
        json_.space();
        if (json_.is('[')) return span(row, kLengths);
        if (!json_.take('"')) return false;
        row.written = kText;
        row.begin = json_.at - text_;
        if (!json_.string_end()) return false;
        row.end = json_.at++ - text_;
        return true;
    }

    bool span(InstanceRow& row, Written how) {
        row.written = how;
        row.begin = json_.at++ - text_;
        if (!json_.list_end()) return false;
        row.end = ++json_.at - text_;
        return true;
    }
};

using ShortRuns = Runs<int32_t>;  // half the memory; images of 2³⁰ pixels and more are unusual

// Turns segmentations into runs, one after the other.
class SegmentationReader {
public:
    // False where it is unusual, or does not cover an image of this size.
    bool read(const uint8_t* begin, const uint8_t* end, uint8_t written, int64_t height,
              int64_t width, ShortRuns& runs) {
        if (height * width > kMostVoxels<int32_t>) return false;
        if (written != kText && begin == end) return false;
        switch (written) {
            case kText:
                return text(begin, end, runs) == height * width;
            case kLengths:
                return lengths(begin, end, runs) == height * width;
            case kPolygons:
                return polygons(begin, end, height, width, runs);
            default:
                return false;
        }
    }

private:
    std::vector<uint8_t> plain_;
    std::vector<int64_t> lengths_;
    std::vector<double> xy_;
    PolygonPainter painter_;

    // A backslash is a digit of these texts, and the only one that JSON escapes.
    int64_t text(const uint8_t* begin, const uint8_t* end, ShortRuns& runs) {
        size_t n = static_cast<size_t>(end - begin);
        if (n > 0 && std::memchr(begin, '\\', n) != nullptr) {
            plain_.clear();
            for (const uint8_t* at = begin; at < end; ++at) {
                if (*at == '\\' && (++at == end || *at != '\\')) return -1;
                plain_.push_back(*at);
            }
            begin = plain_.data();
            end = begin + plain_.size();
        }
        return TextLengths(begin, end).add_to(runs);
    }

    int64_t lengths(const uint8_t* begin, const uint8_t* end, ShortRuns& runs) {
        JsonCursor json{begin + 1, end};
        lengths_.clear();
        json.space();
        bool done = json.is(']');
        json.at += done;
        while (!done) {
            int64_t length = 0;
            if (!json.whole(length) || !json.next(']', done)) return -1;
            lengths_.push_back(length);
        }
        if (json.at != end) return -1;
        return add_lengths(lengths_.data(), static_cast<int64_t>(lengths_.size()), runs);
    }

    bool polygons(const uint8_t* begin, const uint8_t* end, int64_t height, int64_t width,
                  ShortRuns& runs) {
        JsonCursor json{begin + 1, end};
        painter_.start(height, width);
        for (bool done = false; !done;) {
            if (!json.take('[') || !corners(json)) return false;
            painter_.add(xy_.data(), static_cast<int64_t>(xy_.size()) / 2);
            if (!json.next(']', done)) return false;
        }
        painter_.finish(runs);
        return json.at == end;
    }

    bool corners(JsonCursor& json) {
        xy_.clear();
        for (bool done = false; !done;) {
            double value = 0;
            if (!json.number(value) || !(std::fabs(value) <= kFarthest)) return false;
            if (!json.next(']', done)) return false;
            xy_.push_back(value);
        }
        return xy_.size() >= 6 && xy_.size() % 2 == 0;
    }

    static constexpr double kFarthest = 1e9;
};

// The segmentations of a text, with the height and width of the image of each.
struct Segmentations {
    const uint8_t* text;
    const int64_t *begin, *end, *size;  // size: two per row
    const uint8_t* written;

    bool read(int64_t row, SegmentationReader& reader, ShortRuns& runs) const {
        return reader.read(text + begin[row], text + end[row], written[row], size[2 * row],
                           size[2 * row + 1], runs);
    }

    // Asks for a text that is read soon.
    void prefetch_text(int64_t row) const {
        constexpr int64_t kLine = 64, kMost = 16 * kLine;
        for (int64_t at = begin[row]; at < std::min(end[row], begin[row] + kMost); at += kLine)
            prefetch(reinterpret_cast<const char*>(text + at));
    }
};

// The pairs of one group of masks after the other, straight from the texts of both sides: no more
// runs are kept than those of a group.
class WrittenPairs {
public:
    WrittenPairs(const Segmentations& a, const Segmentations& b, LeastIou wanted)
        : a_(a), b_(b), finder_(wanted) {}

    // Masks at the places begin … end − 1 of `n` rows, and where to put their voxels.
    struct Places {
        const int64_t* rows;
        int64_t n, begin, end;
        int64_t* voxels;
    };

    // False if a segmentation is unusual, or does not fit its image.
    bool find(const Places& a, const Places& b, int64_t length, SharedPairs& found) {
        if (!read(a_, a, runs_a_) || !read(b_, b, runs_b_)) return false;
        finder_.find({runs_a_.view(), nullptr, a.begin, a.end}, {runs_b_.view(), nullptr, b.begin, b.end},
                     length, found);
        return true;
    }

private:
    static constexpr int64_t kAhead = 4;
    Segmentations a_, b_;
    PairFinder<int32_t> finder_;
    SegmentationReader reader_;
    ShortRuns runs_a_, runs_b_;

    bool read(const Segmentations& all, const Places& places, ShortRuns& runs) {
        runs.clear();
        for (int64_t i = places.begin; i < places.end; ++i) {
            if (i + kAhead < places.n) all.prefetch_text(places.rows[i + kAhead]);
            if (!all.read(places.rows[i], reader_, runs)) return false;
            places.voxels[i] = runs.view().voxels(i - places.begin);
        }
        return true;
    }
};

}  // namespace panmatch
