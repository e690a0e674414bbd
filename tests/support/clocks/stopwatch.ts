/**
 * Measures work from here on, in milliseconds. What a busy machine gives to others meanwhile does not count, where the system
 * tells how much this process has had.
 */
export function stopwatch(): () => number {
  const [began, before] = [performance.now(), used()];
  return () => Math.min(performance.now() - began, used() - before || Infinity);
}

/** How long this process has been at work, in milliseconds; 0 where nobody tells. */
function used(): number {
  const { process } = globalThis as { process?: { cpuUsage?(): { readonly user: number; readonly system: number } } };
  // Workers have it and throw.
  if (!process?.cpuUsage || "WebSocketPair" in globalThis) return 0;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
