// The greedy merge of D5, and its course while the threshold of the seeds rises.
//
// Edges are numbered in walking order (best first). With the gate on seeds alone, a reference
// below the threshold takes nothing at all, so raising the threshold removes references one by
// one, the one with the weakest seed first. Removing a reference frees its predictions; the
// decisions that this can alter are found by following edges in walking order from there.
#pragma once

#include <functional>
#include <limits>
#include <queue>

#include "bipartite.hpp"

namespace panmatch {

struct Areas {
    std::vector<double> intersection;  // per edge
    std::vector<double> ref, pred;     // per vertex
};

class MergeWalk {
public:
    MergeWalk(const Bipartite& graph, const Areas& areas)
        : graph_(graph), areas_(areas), history_(graph.size()),
          taker_(graph.count(kPred), kNobody), seed_(graph.count(kRef), kNobody),
          active_(graph.count(kRef), false), unions_(graph.count(kRef)),
          pred_freed_(graph.count(kPred), 0) {}

    // Only the first `seedable` edges may give a reference its first prediction; without
    // `grow` a reference keeps to that one.
    void walk(int64_t seedable, bool grow) {
        for (int64_t edge = 0; edge < graph_.size(); ++edge) {
            int64_t ref = graph_.vertex[kRef][edge], pred = graph_.vertex[kPred][edge];
            if (taker_[pred] != kNobody) continue;
            bool first = seed_[ref] == kNobody;
            if (first ? edge >= seedable : !(grow && rises(unions_[ref], edge))) continue;
            if (first) seed_[ref] = edge, active_[ref] = true;
            taker_[pred] = edge;
            unite(unions_[ref], edge);
            history_.set(edge, true);
        }
    }

    const MatchingHistory& history() const { return history_; }

    // Call after walk(all edges, true). `score` falls along the edges.
    Intervals sweep(const std::vector<double>& score) {
        std::vector<int64_t> seeds;
        for (int64_t seed : seed_)
            if (seed != kNobody) seeds.push_back(seed);
        std::sort(seeds.begin(), seeds.end(), std::greater<int64_t>());
        for (int64_t seed : seeds) {
            if (score[seed] >= 1.0) break;
            history_.move_to(score[seed]);
            remove_ref(graph_.vertex[kRef][seed]);
        }
        return history_.finish();
    }

private:
    static constexpr int64_t kNobody = std::numeric_limits<int64_t>::max();

    // The union of a reference's predictions among its edges before `next`.
    struct Union {
        double intersection = 0, pred = 0;
        int64_t next = 0;   // place in the reference's list up to which edges are included
        int64_t round = 0;  // when it was last restarted
        bool altered = false;
    };

    const Bipartite& graph_;
    const Areas& areas_;
    MatchingHistory history_;
    std::vector<int64_t> taker_, seed_;
    std::vector<char> active_;
    std::vector<Union> unions_;
    std::vector<int64_t> pred_freed_;  // the round in which a prediction came free
    int64_t round_ = 0;
    std::priority_queue<int64_t, std::vector<int64_t>, std::greater<int64_t>> queue_;

    void unite(Union& u, int64_t edge) const {
        u.intersection += areas_.intersection[edge];
        u.pred += areas_.pred[graph_.vertex[kPred][edge]];
    }

    double quality(const Union& u, int64_t ref) const {
        return u.intersection / (areas_.ref[ref] + u.pred - u.intersection);
    }

    bool rises(const Union& u, int64_t edge) const {
        int64_t ref = graph_.vertex[kRef][edge];
        Union larger = u;
        unite(larger, edge);
        return quality(larger, ref) > quality(u, ref);
    }

    void remove_ref(int64_t ref) {
        ++round_;
        active_[ref] = false;
        for (int64_t at = graph_.first[kRef][ref]; at < graph_.first[kRef][ref + 1]; ++at)
            if (history_.matched(graph_.edges[kRef][at])) queue_.push(graph_.edges[kRef][at]);
        int64_t done = -1;
        while (!queue_.empty()) {
            int64_t edge = queue_.top();
            queue_.pop();
            if (edge != done) decide_again(edge);
            done = edge;
        }
    }

    // Decisions before `edge` are final by now, those after it may still be out of date.
    void decide_again(int64_t edge) {
        int64_t ref = graph_.vertex[kRef][edge], pred = graph_.vertex[kPred][edge];
        Union& u = union_before(edge);
        bool take = active_[ref] && taker_[pred] >= edge && rises(u, edge);
        if (take != history_.matched(edge)) {
            history_.set(edge, take);
            u.altered = true;
            if (take) give(pred, edge);
            else if (taker_[pred] == edge) set_free(pred);
        }
        if (active_[ref] && u.altered) push(graph_.next(kRef, edge));
        if (pred_freed_[pred] == round_ && taker_[pred] > edge) push(graph_.next(kPred, edge));
    }

    void give(int64_t pred, int64_t edge) {
        if (taker_[pred] != kNobody && taker_[pred] != edge) queue_.push(taker_[pred]);
        taker_[pred] = edge;
    }

    void set_free(int64_t pred) {
        taker_[pred] = kNobody;
        pred_freed_[pred] = round_;
    }

    void push(int64_t edge) {
        if (edge >= 0) queue_.push(edge);
    }

    Union& union_before(int64_t edge) {
        int64_t ref = graph_.vertex[kRef][edge];
        Union& u = unions_[ref];
        if (u.round != round_) {
            u = Union{};
            u.round = round_;
            u.next = graph_.first[kRef][ref];
        }
        for (; u.next < graph_.place[kRef][edge]; ++u.next)
            if (history_.matched(graph_.edges[kRef][u.next])) unite(u, graph_.edges[kRef][u.next]);
        return u;
    }
};

}  // namespace panmatch
