// Copies, memsets, graphs, events and what host calls cost.
//   nvcc -O3 -arch=sm_90 -cudart static copies.cu -o copies && ./copies copies.csv calls.csv
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>
#include <cuda_runtime.h>
#define CHECK(x) do { cudaError_t code_ = (x); if (code_ != cudaSuccess) { fprintf(stderr, "%s line %d: %s\n", #x, __LINE__, cudaGetErrorString(code_)); exit(1); } } while (0)
typedef unsigned long long u64;
typedef std::function<void(cudaStream_t)> Op;
FILE *copies, *calls;
cudaEvent_t e0, e1;
double hostUs() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double median(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
double between(cudaEvent_t a, cudaEvent_t b) { float ms; CHECK(cudaEventElapsedTime(&ms, a, b)); return ms * 1000; }
cudaStream_t stream(int priority = 0) { cudaStream_t s; CHECK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, priority)); return s; }
__global__ void empty() {}
__global__ void spin(u64 ns, u64* stamps) { u64 from, t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from)); do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); } while (t - from < ns); if (stamps && threadIdx.x == 0 && blockIdx.x == 0) { stamps[0] = from; stamps[1] = t; } }
__global__ void computing(float* out, int rounds) { float a[8]; for (int k = 0; k < 8; k++) a[k] = threadIdx.x + k; for (int r = 0; r < rounds; r++)
#pragma unroll
  for (int j = 0; j < 4; j++)
#pragma unroll
    for (int k = 0; k < 8; k++) a[k] = a[k] * 0.999f + 1.f; float s = 0; for (int k = 0; k < 8; k++) s += a[k]; if (s == 12345.f) *out = s; }
__global__ void reading(const float4* a, size_t n, float* out, int rounds) { float s = 0; size_t g = (size_t)gridDim.x * blockDim.x; for (int r = 0; r < rounds; r++) for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i + 3 * g < n; i += 4 * g) { float4 v[4];
#pragma unroll
  for (int k = 0; k < 4; k++) v[k] = a[i + k * g];
#pragma unroll
  for (int k = 0; k < 4; k++) s += v[k].x + v[k].y + v[k].z + v[k].w; } if (s == 12345.f) *out = s; }
__global__ void reading_host(const float4* a, size_t n, float* out) { float s = 0; for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) { float4 v = a[i]; s += v.x + v.y + v.z + v.w; } if (s == 12345.f) *out = s; }
double loneUs(Op op, cudaStream_t s, int repeats = 11) { std::vector<double> all; for (int k = 0; k < repeats; k++) { CHECK(cudaStreamSynchronize(s)); CHECK(cudaEventRecord(e0, s)); op(s); CHECK(cudaEventRecord(e1, s)); CHECK(cudaEventSynchronize(e1)); all.push_back(between(e0, e1)); } return median(all); }
double hostCallUs(Op op, cudaStream_t s, bool wait, int repeats = 11) { std::vector<double> all; for (int k = 0; k < repeats; k++) { CHECK(cudaStreamSynchronize(s)); double t = hostUs(); op(s); if (wait) CHECK(cudaStreamSynchronize(s)); all.push_back(hostUs() - t); CHECK(cudaStreamSynchronize(s)); } return median(all); }
double streamUs(Op op, cudaStream_t s, int count) { std::vector<double> all; for (int k = 0; k < 5; k++) { spin<<<1, 1, 0, s>>>(count * 6000ull, nullptr); CHECK(cudaEventRecord(e0, s)); for (int j = 0; j < count; j++) op(s); CHECK(cudaEventRecord(e1, s)); CHECK(cudaEventSynchronize(e1)); all.push_back(between(e0, e1) / count); } return median(all); }
double graphUs(Op op, cudaStream_t s, int count) {
  cudaGraph_t g; cudaGraphExec_t x; CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)); for (int k = 0; k < count; k++) op(s); CHECK(cudaStreamEndCapture(s, &g)); CHECK(cudaGraphInstantiate(&x, g, 0));
  std::vector<double> all; for (int k = 0; k < 6; k++) { CHECK(cudaEventRecord(e0, s)); CHECK(cudaGraphLaunch(x, s)); CHECK(cudaEventRecord(e1, s)); CHECK(cudaEventSynchronize(e1)); if (k) all.push_back(between(e0, e1) / count); }
  CHECK(cudaGraphExecDestroy(x)); CHECK(cudaGraphDestroy(g)); return median(all);
}
void sizes(cudaStream_t s, char* pinned, char* pageable, char* device) {
  fprintf(copies, "operation,bytes,graph_interval_us,stream_interval_us,lone_event_us,host_call_us,host_to_end_us\n");
  char* other = device + (1ull << 30);
  for (size_t n : {4, 16, 64, 256, 1024, 2048, 4096, 8192, 12288, 16384, 32768, 65536, 65537, 98304, 131072, 262144, 524288, 1 << 20, 1 << 21, 1 << 22, 1 << 23, 1 << 24, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 30}) {
    int count = n >= 1 << 27 ? 3 : n >= 1 << 24 ? 8 : 40;
    struct { const char* name; Op op; bool graph; size_t most; } all[] = {
      {"h2d_pinned", [=](cudaStream_t q) { CHECK(cudaMemcpyAsync(device, pinned, n, cudaMemcpyHostToDevice, q)); }, true, 1 << 28},
      {"d2h_pinned", [=](cudaStream_t q) { CHECK(cudaMemcpyAsync(pinned, device, n, cudaMemcpyDeviceToHost, q)); }, true, 1 << 28},
      {"h2d_pageable", [=](cudaStream_t q) { CHECK(cudaMemcpyAsync(device, pageable, n, cudaMemcpyHostToDevice, q)); }, false, 1 << 28},
      {"d2h_pageable", [=](cudaStream_t q) { CHECK(cudaMemcpyAsync(pageable, device, n, cudaMemcpyDeviceToHost, q)); }, false, 1 << 28},
      {"d2d", [=](cudaStream_t q) { CHECK(cudaMemcpyAsync(device, other, n, cudaMemcpyDeviceToDevice, q)); }, true, 1 << 30},
      {"memset", [=](cudaStream_t q) { CHECK(cudaMemsetAsync(device, 3, n, q)); }, true, 1 << 30}};
    for (auto& o : all) {
      if (n > o.most) continue;
      for (int k = 0; k < 2; k++) o.op(s);
      CHECK(cudaStreamSynchronize(s));
      double graph = o.graph ? graphUs(o.op, s, count) : 0, inStream = o.graph ? streamUs(o.op, s, count) : 0;
      fprintf(copies, "%s,%zu,%s,%s,%.3f,%.3f,%.3f\n", o.name, n, o.graph ? std::to_string(graph).c_str() : "", o.graph ? std::to_string(inStream).c_str() : "", loneUs(o.op, s), hostCallUs(o.op, s, false), hostCallUs(o.op, s, true));
    }
  }
  fflush(copies);
}
void line(const char* what, const std::string& parameters, double value, const char* unit = "us") { fprintf(calls, "\"%s\",\"%s\",%.4g,%s\n", what, parameters.c_str(), value, unit); fflush(calls); }
std::string kv(const char* k, double v) { char t[60]; snprintf(t, 60, "%s=%.10g", k, v); return t; }
// Several operations that start together: each one's end, from the common start, and the last one's.
void together(const char* what, const std::string& ps, std::vector<std::pair<const char*, Op>> ops) {
  static std::vector<cudaStream_t> streams; while (streams.size() < ops.size()) streams.push_back(stream());
  static cudaStream_t gate = stream(); static cudaEvent_t open = nullptr; if (!open) CHECK(cudaEventCreate(&open));
  size_t n = ops.size(); std::vector<std::vector<double>> ends(n); std::vector<double> alone(n), total; std::vector<cudaEvent_t> last(n); for (auto& e : last) CHECK(cudaEventCreate(&e));
  for (size_t k = 0; k < n; k++) alone[k] = loneUs(ops[k].second, streams[k], 5);
  for (int r = 0; r < 7; r++) {
    spin<<<1, 1, 0, gate>>>(60000, nullptr); CHECK(cudaEventRecord(open, gate));
    for (size_t k = 0; k < n; k++) { CHECK(cudaStreamWaitEvent(streams[k], open, 0)); ops[k].second(streams[k]); CHECK(cudaEventRecord(last[k], streams[k])); }
    CHECK(cudaDeviceSynchronize());
    double most = 0; for (size_t k = 0; k < n; k++) { double t = between(open, last[k]); ends[k].push_back(t); most = std::max(most, t); } total.push_back(most);
  }
  for (size_t k = 0; k < n; k++) { line(what, ps + " operation=" + ops[k].first + " alone", alone[k]); line(what, ps + " operation=" + ops[k].first + " end together", median(ends[k])); }
  line(what, ps + " all ended", median(total));
}
int main(int, char** argv) {
  copies = fopen(argv[1], "w"); calls = fopen(argv[2], "w");
  double t0 = hostUs(); CHECK(cudaFree(0)); double context = hostUs() - t0;
  fprintf(calls, "what,parameters,value,unit\n"); line("first call (context and module)", "", context);
  CHECK(cudaEventCreate(&e0)); CHECK(cudaEventCreate(&e1));
  cudaStream_t s = stream();
  char *pinned, *device, *pageable = (char*)malloc(1 << 28), *host2; CHECK(cudaMallocHost(&pinned, 1 << 28)); CHECK(cudaMallocHost(&host2, 1 << 28)); CHECK(cudaMalloc(&device, 6ull << 30));
  for (size_t k = 0; k < 1 << 28; k += 4) *(unsigned*)(pageable + k) = *(unsigned*)(pinned + k) = *(unsigned*)(host2 + k) = (unsigned)k * 2654435761u;
  CHECK(cudaMemset(device, 1, 6ull << 30));
  for (int k = 0; k < 40; k++) reading<<<264, 1024, 0, s>>>((float4*)device, 1 << 26, (float*)device, 1);
  CHECK(cudaStreamSynchronize(s));
  sizes(s, pinned, pageable, device);
  // Events.
  { const int n = 2000; std::vector<cudaEvent_t> ev(n); for (auto& e : ev) CHECK(cudaEventCreate(&e)); double t = hostUs(); for (auto& e : ev) CHECK(cudaEventRecord(e, s)); line("event record, host", "", (hostUs() - t) / n); CHECK(cudaStreamSynchronize(s));
    spin<<<1, 1, 0, s>>>(6000000, nullptr); for (auto& e : ev) CHECK(cudaEventRecord(e, s)); CHECK(cudaStreamSynchronize(s)); std::vector<double> d; std::map<int, int> seen; for (int k = 1; k < n; k++) { d.push_back(between(ev[k - 1], ev[k])); seen[(int)(d.back() * 1000 + 0.5)]++; }
    line("successive events, nothing between", "median", median(d)); int shown = 0; for (auto& v : seen) if (shown++ < 12) line("successive events, nothing between", kv("difference_ns", v.first), v.second, "times"); line("successive events, nothing between", "mean", between(ev[0], ev[n - 1]) / (n - 1));
    line("two events around an empty kernel", "", loneUs([](cudaStream_t q) { empty<<<1, 32, 0, q>>>(); }, s)); line("two events around nothing", "idle stream", loneUs([](cudaStream_t) {}, s));
    t = hostUs(); for (int k = 0; k < n; k++) CHECK(cudaStreamWaitEvent(s, ev[k], 0)); line("stream wait event (done), host", "", (hostUs() - t) / n); CHECK(cudaStreamSynchronize(s));
    t = hostUs(); for (int k = 0; k < n; k++) (void)cudaEventQuery(ev[k]); line("event query, host", "", (hostUs() - t) / n); t = hostUs(); for (int k = 0; k < n; k++) CHECK(cudaStreamSynchronize(s)); line("stream synchronize, idle, host", "", (hostUs() - t) / n); }
  // Launches: host, device, streams and graphs.
  for (u64 ns : {0ull, 5000ull, 20000ull}) for (int chain : {1, 10, 100}) {
    Op body = [=](cudaStream_t q) { if (ns) spin<<<1, 32, 0, q>>>(ns, nullptr); else empty<<<1, 32, 0, q>>>(); };
    Op many = [=](cudaStream_t q) { for (int k = 0; k < chain; k++) body(q); };
    std::string ps = kv("kernel_ns", ns) + " " + kv("chain", chain);
    line("chain in a stream, host calls", ps, hostCallUs(many, s, false)); line("chain in a stream, host to end", ps, hostCallUs(many, s, true)); line("chain in a stream, between events", ps, loneUs(many, s)); line("chain in a stream already submitted, interval", ps, streamUs(body, s, chain));
    cudaGraph_t g; cudaGraphExec_t x; CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)); many(s); CHECK(cudaStreamEndCapture(s, &g)); double t = hostUs(); CHECK(cudaGraphInstantiate(&x, g, 0)); line("graph instantiate, host", ps, hostUs() - t);
    t = hostUs(); CHECK(cudaGraphLaunch(x, s)); line("graph first launch, host", ps, hostUs() - t); CHECK(cudaStreamSynchronize(s));
    Op graph = [=](cudaStream_t q) { CHECK(cudaGraphLaunch(x, q)); };
    line("graph launch, host call", ps, hostCallUs(graph, s, false)); line("graph launch, host to end", ps, hostCallUs(graph, s, true)); line("graph launch, between events", ps, loneUs(graph, s));
    std::vector<double> two; for (int k = 0; k < 7; k++) { CHECK(cudaEventRecord(e0, s)); for (int j = 0; j < 10; j++) graph(s); CHECK(cudaEventRecord(e1, s)); CHECK(cudaEventSynchronize(e1)); two.push_back(between(e0, e1) / 10); } line("graphs back to back, interval a graph", ps, median(two));
    CHECK(cudaGraphExecDestroy(x)); CHECK(cudaGraphDestroy(g));
  }
  { // Gaps between a kernel's end and its successor's start, by the device's timer.
    u64* st; CHECK(cudaMalloc(&st, 4096)); u64 h[8]; cudaStream_t s2 = stream(); cudaEvent_t e; CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming)); std::vector<double> same, cross, across, fork;
    for (int k = 0; k < 15; k++) { spin<<<1, 1, 0, s>>>(30000, st); spin<<<1, 1, 0, s>>>(3000, st + 2); CHECK(cudaDeviceSynchronize()); CHECK(cudaMemcpy(h, st, 64, cudaMemcpyDeviceToHost)); same.push_back(((double)h[2] - h[1]) / 1000);
      spin<<<1, 1, 0, s>>>(40000, st); CHECK(cudaEventRecord(e, s)); CHECK(cudaStreamWaitEvent(s2, e, 0)); spin<<<1, 1, 0, s2>>>(3000, st + 2); CHECK(cudaDeviceSynchronize()); CHECK(cudaMemcpy(h, st, 64, cudaMemcpyDeviceToHost)); cross.push_back(((double)h[2] - h[1]) / 1000);
      cudaEvent_t timed = e0; spin<<<1, 1, 0, s>>>(40000, st); CHECK(cudaEventRecord(timed, s)); spin<<<1, 1, 0, s>>>(3000, st + 2); CHECK(cudaDeviceSynchronize()); CHECK(cudaMemcpy(h, st, 64, cudaMemcpyDeviceToHost)); across.push_back(((double)h[2] - h[1]) / 1000); }
    line("gap between kernels of one stream", "", median(same)); line("gap between kernels of two streams, by an event", "", median(cross)); line("gap between kernels of one stream with a timed event between", "", median(across));
    for (auto kind : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice}) { std::vector<double> gap; for (int k = 0; k < 15; k++) { spin<<<1, 1, 0, s>>>(60000, st); char* a = device + 4096; if (kind == cudaMemcpyHostToDevice) CHECK(cudaMemcpyAsync(a, pinned, 4096, kind, s)); else if (kind == cudaMemcpyDeviceToHost) CHECK(cudaMemcpyAsync(pinned, a, 4096, kind, s)); else CHECK(cudaMemcpyAsync(a, device + (1 << 20), 4096, kind, s)); spin<<<1, 1, 0, s>>>(3000, st + 2); CHECK(cudaDeviceSynchronize()); CHECK(cudaMemcpy(h, st, 64, cudaMemcpyDeviceToHost)); gap.push_back(((double)h[2] - h[1]) / 1000); } line("gap between kernels of one stream with a copy of 4096 bytes between", kind == cudaMemcpyHostToDevice ? "h2d" : kind == cudaMemcpyDeviceToHost ? "d2h" : "d2d", median(gap)); }
    std::vector<double> lat; for (int k = 0; k < 15; k++) { CHECK(cudaDeviceSynchronize()); double t = hostUs(); spin<<<1, 1, 0, s>>>(50000, nullptr); CHECK(cudaStreamSynchronize(s)); lat.push_back(hostUs() - t - 50); } line("launch and synchronize, less the kernel's 50 us", "", median(lat)); }
  // Memory calls.
  for (size_t n : {256, 1 << 20, 1 << 26, 1 << 30}) { std::vector<double> a, f, aa, fa; for (int k = 0; k < 9; k++) { void* q; double t = hostUs(); CHECK(cudaMalloc(&q, n)); a.push_back(hostUs() - t); t = hostUs(); CHECK(cudaFree(q)); f.push_back(hostUs() - t); t = hostUs(); CHECK(cudaMallocAsync(&q, n, s)); aa.push_back(hostUs() - t); t = hostUs(); CHECK(cudaFreeAsync(q, s)); fa.push_back(hostUs() - t); CHECK(cudaStreamSynchronize(s)); } line("malloc, host", kv("bytes", n), median(a)); line("free, host", kv("bytes", n), median(f)); line("malloc async, host", kv("bytes", n), median(aa)); line("free async, host", kv("bytes", n), median(fa)); }
  { double t = hostUs(); cudaStream_t q; for (int k = 0; k < 20; k++) CHECK(cudaStreamCreate(&q)); line("stream create, host", "", (hostUs() - t) / 20); t = hostUs(); void* h; CHECK(cudaMallocHost(&h, 1 << 20)); line("malloc host, host", "bytes=1048576", hostUs() - t); }
  // Copies together.
  auto h2d = [=](size_t n, size_t at) { return Op([=](cudaStream_t q) { CHECK(cudaMemcpyAsync(device + at, pinned, n, cudaMemcpyHostToDevice, q)); }); };
  auto d2h = [=](size_t n, size_t at) { return Op([=](cudaStream_t q) { CHECK(cudaMemcpyAsync(host2, device + at, n, cudaMemcpyDeviceToHost, q)); }); };
  auto d2d = [=](size_t n, size_t at) { return Op([=](cudaStream_t q) { CHECK(cudaMemcpyAsync(device + at, device + at + (1ull << 30), n, cudaMemcpyDeviceToDevice, q)); }); };
  auto repeat = [](Op op, int n) { return Op([=](cudaStream_t q) { for (int k = 0; k < n; k++) op(q); }); };
  Op fullCompute = [=](cudaStream_t q) { computing<<<1056, 256, 0, q>>>((float*)device, 8000); }; Op fullRead = [=](cudaStream_t q) { reading<<<264, 1024, 0, q>>>((float4*)(device + (3ull << 30)), (size_t)1 << 26, (float*)device, 8); };
  // Engines and channels are set up at their first use.
  for (int k = 0; k < 2; k++) { FILE* kept = calls; calls = fopen("/dev/null", "w"); together("first use", "", {{"h2d", h2d(65536, 0)}, {"d2h", d2h(65536, 1 << 28)}, {"d2d", d2d(65536, 2 << 28)}, {"compute", fullCompute}}); fclose(calls); calls = kept; }
  for (size_t n : {65536, 1 << 20, 1 << 24, 1 << 26, 1 << 28}) {
    std::string ps = kv("bytes", n);
    together("both directions", ps, {{"h2d", h2d(n, 0)}, {"d2h", d2h(n, 1 << 28)}});
    together("one direction, two streams", ps, {{"h2d", h2d(n, 0)}, {"h2d again", h2d(n, 1 << 28)}});
    together("one direction, two streams", ps, {{"d2h", d2h(n, 0)}, {"d2h again", d2h(n, 1 << 28)}});
  }
  together("one direction, four streams of four", kv("bytes", 1 << 20), {{"1", repeat(h2d(1 << 20, 0), 4)}, {"2", repeat(h2d(1 << 20, 1 << 28), 4)}, {"3", repeat(h2d(1 << 20, 2 << 28), 4)}, {"4", repeat(h2d(1 << 20, (size_t)3 << 28), 4)}});
  together("large copy, then small one in another stream", kv("bytes", 1 << 26), {{"h2d 64 MB", h2d(1 << 26, 0)}, {"h2d 4 KB", h2d(4096, 1 << 28)}, {"d2h 4 KB", d2h(4096, 2 << 28)}, {"d2d 4 KB", d2d(4096, (size_t)3 << 28)}});
  for (size_t n : {1 << 20, 1 << 26}) {
    std::string ps = kv("bytes", n); int times = n == 1 << 20 ? 40 : 1;
    together("copies beside compute", ps, {{"compute", fullCompute}, {"h2d", repeat(h2d(n, 0), times)}}); together("copies beside compute", ps, {{"compute", fullCompute}, {"d2h", repeat(d2h(n, 0), times)}}); together("copies beside compute", ps, {{"compute", fullCompute}, {"d2d", repeat(d2d(n, 0), times)}});
    together("copies beside DRAM reads", ps, {{"read", fullRead}, {"h2d", repeat(h2d(n, 0), times)}}); together("copies beside DRAM reads", ps, {{"read", fullRead}, {"d2h", repeat(d2h(n, 0), times)}}); together("copies beside DRAM reads", ps, {{"read", fullRead}, {"d2d", repeat(d2d(n, 0), times * 10)}});
  }
  together("copy both ways beside DRAM reads", kv("bytes", 1 << 26), {{"read", fullRead}, {"h2d", h2d(1 << 26, 0)}, {"d2h", d2h(1 << 26, 1 << 28)}});
  { Op half = [=](cudaStream_t q) { computing<<<528, 256, 0, q>>>((float*)device, 16000); }; Op full = [=](cudaStream_t q) { computing<<<1056, 256, 0, q>>>((float*)device, 8000); };
    // The host waits 50 us after the kernel's launch, then copies and waits for the end.
    static cudaStream_t first = stream(), second = stream();
    auto after = [&](const char* what, Op kernel, const char* which, size_t n, Op op) {
      std::vector<double> idle, busy, whole;
      for (int k = 0; k < 7; k++) {
        CHECK(cudaDeviceSynchronize()); double t = hostUs(); op(second); CHECK(cudaStreamSynchronize(second)); idle.push_back(hostUs() - t);
        t = hostUs(); kernel(first); while (hostUs() - t < 50) {} double u = hostUs(); op(second); CHECK(cudaStreamSynchronize(second)); busy.push_back(hostUs() - u); CHECK(cudaStreamSynchronize(first)); whole.push_back(hostUs() - t);
      }
      std::string ps = std::string("operation=") + which + " " + kv("bytes", n);
      line(what, ps + " host to end on an idle card", median(idle)); line(what, ps + " host to end beside the kernel", median(busy)); line(what, ps + " the kernel, host to end", median(whole));
    };
    for (bool all : {true, false}) {
      const char* what = all ? "50 us after a kernel that fills the card" : "50 us after a kernel on half the slots"; Op kernel = all ? full : half;
      for (size_t n : {4096, 1 << 20, 1 << 24, 1 << 26}) { after(what, kernel, "d2d", n, d2d(n, 0)); after(what, kernel, "h2d", n, h2d(n, 0)); after(what, kernel, "d2h", n, d2h(n, 1 << 28)); after(what, kernel, "memset", n, [=](cudaStream_t q) { CHECK(cudaMemsetAsync(device, 1, n, q)); }); }
      after(what, kernel, "memset", 1024, [=](cudaStream_t q) { CHECK(cudaMemsetAsync(device, 1, 1024, q)); });
      after(what, kernel, "kernel of one block", 0, [=](cudaStream_t q) { empty<<<1, 32, 0, q>>>(); });
    } }
  together("two d2d", kv("bytes", 1 << 28), {{"d2d", d2d(1 << 28, 0)}, {"d2d again", d2d(1 << 28, 1 << 28)}});
  together("memset beside DRAM reads", kv("bytes", 1 << 28), {{"read", fullRead}, {"memset", [=](cudaStream_t q) { CHECK(cudaMemsetAsync(device, 1, 1 << 28, q)); }}});
  { float4* mapped; CHECK(cudaHostGetDevicePointer(&mapped, pinned, 0)); for (int blocks : {1, 16, 132}) { double us = loneUs([=](cudaStream_t q) { reading_host<<<blocks, 1024, 0, q>>>(mapped, (1 << 26) / 16, (float*)device); }, s, 3); line("kernel reads pinned host memory", kv("blocks", blocks), (1 << 26) / us / 1000, "GB/s"); } }
  CHECK(cudaDeviceSynchronize());
}
