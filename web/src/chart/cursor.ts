// The second under the pointer, shared by every graph over time, so that all of them point at it.

type Listener = (second: number | null) => void;

export class CursorHub {
  second: number | null = null;
  private listeners = new Set<Listener>();

  subscribe(listener: Listener): void {
    this.listeners.add(listener);
  }

  point(second: number | null): void {
    if (second === this.second) return;
    this.second = second;
    for (const listener of this.listeners) listener(second);
  }
}
