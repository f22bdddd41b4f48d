/** PTX thread-instructions a block. An endless kernel holds the node up for about a second before it is stopped. */
export const FUEL_PER_BLOCK = 2 ** 28;
