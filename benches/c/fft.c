/* FFT(n, repeats): see fft.lua. */
#include <math.h>

#include "bench.h"
#include "random.h"

static void reverse_bits (Real *data, long n) {
  long j = 0;
  for (long i = 0; i < n - 1; i++) {
    if (i < j) {
      double re = data[2 * i], im = data[2 * i + 1];
      data[2 * i] = data[2 * j];
      data[2 * i + 1] = data[2 * j + 1];
      data[2 * j] = re;
      data[2 * j + 1] = im;
    }
    long bit = n / 2;
    while (bit <= j) {
      j -= bit;
      bit /= 2;
    }
    j += bit;
  }
}

static void transform (Real *data, long n, double direction) {
  reverse_bits(data, n);
  for (long span = 1; span < n; span *= 2) {
    double angle = direction * M_PI / (double)span;
    double half = sin(0.5 * angle);
    double turn_re = -2.0 * half * half, turn_im = sin(angle);
    double w_re = 1.0, w_im = 0.0;
    for (long k = 0; k < span; k++) {
      for (long i = k; i < n; i += 2 * span) {
        Real *a = data + 2 * i, *b = a + 2 * span;
        double re = w_re * b[0] - w_im * b[1];
        double im = w_re * b[1] + w_im * b[0];
        b[0] = a[0] - re;
        b[1] = a[1] - im;
        a[0] = a[0] + re;
        a[1] = a[1] + im;
      }
      double re = w_re + (w_re * turn_re - w_im * turn_im);
      w_im = w_im + (w_im * turn_re + w_re * turn_im);
      w_re = re;
    }
  }
}

static void scale (Real *data, long length, double factor) {
  for (long i = 0; i < length; i++)
    data[i] = data[i] * factor;
}

double run (const long *arguments) {
  long n = arguments[0], repeats = arguments[1];
  Random random = {101010};
  Real *data = allocate_reals(2 * n);
  for (long i = 0; i < 2 * n; i++)
    data[i] = next_real(&random);
  double spectrum = 0.0;
  timer_start();
  for (long repeat = 0; repeat < repeats; repeat++) {
    transform(data, n, -1.0);
    spectrum = spectrum + data[2] - data[2 * n - 1];
    transform(data, n, 1.0);
    scale(data, 2 * n, 1.0 / (double)n);
  }
  timer_stop();
  double sum = spectrum;
  for (long i = 1; i <= 2 * n; i++)
    sum = sum + data[i - 1] * (double)(i % 5);
  free(data);
  return sum;
}
