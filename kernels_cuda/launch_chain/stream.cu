// One link of a chain: it must wait for the one before, and there is nothing else to wait for.

__global__ void launch_chain_stream(int* token) {
    *token += 1;
}
