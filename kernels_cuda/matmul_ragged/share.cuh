// Who computes what when the steps along k of some tiles are cut into equal pieces, wherever tiles begin and end.

#pragma once

// Piece p of `pieces` begins at this step of `total`: all are equal up to one step.
__device__ inline long long piece_start(long long p, long long total, long long pieces) {
    return p * total / pieces;
}

// A run of steps of one tile. Where it is not the whole tile, its sums go to the workspace, in a slot of their own:
// going on, either the piece or the tile is another, so that their sum is new.
struct Run {
    long long tile, slot;
    int start, stop;
    bool complete;
};

// The work of one block: tiles as long as all blocks have one, then its piece of the steps of the tiles from `whole` on.
struct Share {
    long long whole, tile, at, end;
    int steps;

    __device__ Share(long long tiles, long long whole, long long pieces, int steps)
        : whole(whole), tile(blockIdx.x), steps(steps) {
        const long long total = (tiles - whole) * steps, piece = blockIdx.x;
        at = piece_start(piece < pieces ? piece : pieces, total, pieces);
        end = piece_start(piece < pieces ? piece + 1 : pieces, total, pieces);
    }

    __device__ bool next(Run& run) {
        if (tile < whole) {
            run = Run{tile, 0, 0, steps, true};
            tile += gridDim.x;
            return true;
        }
        if (at >= end) {
            return false;
        }
        const long long shared = at / steps, left = end - at;
        run.tile = whole + shared;
        run.slot = blockIdx.x + shared;
        run.start = static_cast<int>(at % steps);
        run.stop = static_cast<int>(min(static_cast<long long>(steps), run.start + left));
        run.complete = run.stop - run.start == steps;
        at += run.stop - run.start;
        return true;
    }
};
