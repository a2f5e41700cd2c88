// Which tile of c is whose.

#pragma once

// The first row and column of a tile: `group` rows of tiles are walked column by column, so that blocks that run at the
// same time share rows of a and columns of b.
template <int ROWS, int COLUMNS>
__device__ void place(long long& row, long long& column, long long tile, int m, int n, int group) {
    const int down = (m - 1) / ROWS + 1, across = (n - 1) / COLUMNS + 1;
    const int first = static_cast<int>(tile / (static_cast<long long>(group) * across)) * group;
    const int height = min(group, down - first);
    const int within = static_cast<int>(tile - static_cast<long long>(first) * across);
    row = static_cast<long long>(first + within % height) * ROWS;
    column = static_cast<long long>(within / height) * COLUMNS;
}
