// Which tile of the matrix a block transposes.

#pragma once

struct Place {
    long long row, column;  // the first of the tile
};

// Tiles go down GROUP rows of tiles before they go right: blocks that run at the same time then read stretches of a row
// and write stretches of a column that lie next to each other, so that DRAM pages are opened fewer times. All blocks are
// counted in grid.x.
template <int ROWS, int COLUMNS, int GROUP>
__device__ Place place(int m, int n) {
    const int down = (m + ROWS - 1) / ROWS;
    const int across = (n + COLUMNS - 1) / COLUMNS;
    const int first = static_cast<int>(blockIdx.x / (static_cast<unsigned>(GROUP) * across)) * GROUP;
    const int inside = static_cast<int>(blockIdx.x - static_cast<unsigned>(first) * across);
    const int height = min(GROUP, down - first);
    return {static_cast<long long>(first + inside % height) * ROWS, static_cast<long long>(inside / height) * COLUMNS};
}
