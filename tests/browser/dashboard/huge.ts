/**
 * A result that no page should show whole, and how long a page stands still.
 *
 * @module
 */

/** 100 MB, in pieces, as a stream of events or as JSON. */
export function hugeReply(kind: "events" | "json"): Response {
  const encoder = new TextEncoder();
  const [before, after] = kind === "json"
    ? ['{"content":[{"type":"text","text":"', '"}]}']
    : ['event: result\ndata: {"content":[{"type":"text","text":"', '"}]}\n\n'];
  const piece = encoder.encode("x".repeat(1_000_000));
  let left = 100;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(before)),
    pull(controller) {
      if (left-- > 0) return controller.enqueue(piece);
      controller.enqueue(encoder.encode(after));
      controller.close();
    },
  });
  return new Response(body, {
    headers: { "content-type": kind === "json" ? "application/json" : "text/event-stream" },
  });
}

/** Runs in the page: how long its script keeps it from painting. */
export function watchFrames(): void {
  const seen = { longest: 0, frames: 0 };
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration);
  });
  observer.observe({ type: "longtask" });
  let isOver = false;
  const frame = (): void => {
    seen.frames++;
    if (!isOver) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  Object.assign(globalThis, {
    frames: () => {
      isOver = true;
      observer.disconnect();
      return seen;
    },
  });
}
