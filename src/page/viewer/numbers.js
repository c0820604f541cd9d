// Four digits, and powers of ten where the number is large or small.
export function numberText(x) {
  if (!Number.isFinite(x)) return String(x);
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(2).replace('e+', 'e');
  return String(Number(x.toPrecision(4)));
}
