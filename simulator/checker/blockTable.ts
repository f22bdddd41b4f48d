/** State that a checker keeps for each block that has not ended. */
export class BlockTable<State> {
  private readonly states = new Map<number, State>();
  private lastBlock = -1;
  private lastState: State | undefined;

  constructor(private readonly make: (block: number) => State) {}

  of(block: number): State {
    if (block === this.lastBlock && this.lastState !== undefined) return this.lastState;
    let state = this.states.get(block);
    if (state === undefined) {
      state = this.make(block);
      this.states.set(block, state);
    }
    this.lastBlock = block;
    this.lastState = state;
    return state;
  }

  end(block: number): void {
    this.states.delete(block);
    this.lastBlock = -1;
    this.lastState = undefined;
  }
}
