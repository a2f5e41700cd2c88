// A model of what compilers do with neighbouring scalar loads of shared memory: nvcc unrolls the loop around them and
// reads up to 16 bytes at once where the alignment allows. Source level sees the scalar loads; this sees the wide ones.
#pragma once

#include <vector>

#include "banks.hpp"

namespace roofline {

struct Wide {
    u64 requests = 0, wavefronts = 0;
};

class Merger {
  public:
    explicit Merger(void (*sink)(u32, const Wide&)) : sink_(sink) {}

    // A load by one place of the source; runs of loads at ascending addresses are kept until something ends them.
    void load(u32 node, const Request& r, const Wavefronts& alone) {
        if (r.size >= 16) {
            sink_(node, {1, alone.total});
            return;
        }
        for (Run& run : runs_) {
            if (run.length && extends(run, node, r)) {
                run.wavefronts.push_back(alone.total);
                ++run.length;
                return;
            }
        }
        Run& run = claim(node);
        finish(run);
        run.node = node;
        run.first = r;
        run.length = 1;
        run.wavefronts.assign(1, alone.total);
    }

    // Stores, barriers and the end of the trace: no load moves across them.
    void barrier() {
        for (Run& run : runs_) finish(run);
    }

  private:
    struct Run {
        u32 node = 0, length = 0;
        Request first;
        std::vector<u32> wavefronts;
    };

    static bool extends(const Run& run, u32 node, const Request& r) {
        if (run.first.mask != r.mask || run.first.size != r.size || run.node != node) return false;
        for (u32 l = 0; l < 32; ++l)
            if ((r.mask >> l & 1) && r.address[l] != run.first.address[l] + run.length * r.size) return false;
        return true;
    }

    Run& claim(u32 node) {
        for (Run& run : runs_)
            if (run.length && run.node == node) return run;
        for (Run& run : runs_)
            if (!run.length) return run;
        oldest_ = (oldest_ + 1) % runs_.size();
        return runs_[oldest_];
    }

    static bool aligned(const Request& first, u32 offset, u32 width) {
        for (u32 l = 0; l < 32; ++l)
            if ((first.mask >> l & 1) && (first.address[l] + offset) % width) return false;
        return true;
    }

    void finish(Run& run) {
        if (!run.length) return;
        const u32 size = run.first.size;
        Wide wide;
        for (u32 done = 0; done < run.length;) {
            u32 width = 16;
            while (width > size && ((run.length - done) * size < width || !aligned(run.first, done * size, width))) width /= 2;
            wide.requests += 1;
            if (width <= size) {
                wide.wavefronts += run.wavefronts[done++];
                continue;
            }
            Request r = run.first;
            r.size = width;
            for (u32 l = 0; l < 32; ++l) r.address[l] += done * size;
            wide.wavefronts += wavefronts(r).total;
            done += width / size;
        }
        run.length = 0;
        sink_(run.node, wide);
    }

    void (*sink_)(u32, const Wide&);
    std::vector<Run> runs_ = std::vector<Run>(16);
    size_t oldest_ = 0;
};

}  // namespace roofline
