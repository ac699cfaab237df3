import HTTP
import HTTPServer
import Metrics
import Synchronization

/// Counts requests by route and status, and their durations by route, without a lock.
///
/// The labels are those of the declared routes, and everything else is one more, so no client can
/// add any.
final class RequestMetrics: Sendable {
  private final class RouteMetrics: Sendable {
    let statuses = Counters()
    let durations = DurationHistogram()
  }

  private final class Table: Sendable {
    let routes: [Route.Label: RouteMetrics]

    init(_ labels: [Route.Label]) {
      routes = Dictionary(labels.map { ($0, RouteMetrics()) }) { one, _ in one }
    }
  }

  private static let other = Route.Label(Method("other"), "other")
  /// The statuses that have a label; others are `other`, and requests without a response are
  /// `none`.
  private static let statuses = [
    200, 201, 202, 204, 302, 303, 304, 308, 400, 401, 403, 404, 405, 409, 410, 412, 413, 414, 415,
    417, 422, 429, 431, 500, 501, 503,
  ]
  private static let noStatus = statuses.count
  private static let otherStatus = statuses.count + 1
  /// The position of each status, from 0 to 599.
  private static let positions = (0..<600).map { code in
    code == 0 ? noStatus : statuses.firstIndex(of: code) ?? otherStatus
  }

  private let table = AtomicLazyReference<Table>()
  private let others = RouteMetrics()

  /// Sets the routes; until then, all requests are counted as others.
  func declare(_ routes: [Route.Label]) { _ = table.storeIfNil(Table(routes)) }

  var observer: RequestObserver { { self.observe($0, $1, nanoseconds: $2) } }

  func observe(_ route: Route.Label?, _ status: Int, nanoseconds: UInt64) {
    let metrics = route.flatMap { table.load()?.routes[$0] } ?? others
    metrics.statuses.add(
      Self.positions.indices.contains(status) ? Self.positions[status] : Self.otherStatus)
    metrics.durations.observe(nanoseconds: nanoseconds)
  }

  func write(to exposition: inout Exposition) {
    let declared = (table.load()?.routes ?? [:]).map { ($0.key, $0.value) }
      .sorted { ($0.0.pattern, $0.0.method.name) < ($1.0.pattern, $1.0.method.name) }
    let names = Self.statuses.map(String.init) + ["none", "other"]
    var requests: [Sample<Int>] = []
    var durations: [Sample<Distribution>] = []
    for (label, metrics) in declared + [(Self.other, others)] {
      let distribution = metrics.durations.distribution
      guard distribution.counts.contains(where: { $0 > 0 }) else { continue }
      let (method, route) = (label.method.name, label.pattern)
      durations.append(Sample(distribution, ["method": method, "route": route]))
      for (position, name) in names.enumerated() {
        let count = metrics.statuses.value(position)
        guard count > 0 else { continue }
        requests.append(Sample(count, ["method": method, "route": route, "code": name]))
      }
    }
    exposition.counter(
      "countersign_http_requests_total", help: "Requests by route and status.", requests)
    exposition.histogram(
      "countersign_http_request_duration_seconds",
      help: "Time from the request line to the end of the response.", durations)
  }
}
