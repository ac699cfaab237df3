import HTTP
import Identity
import Localization

struct ActivityFiles: Sendable {
  let identity: Identity
  let catalog: Catalog

  /// `S/activity/enrollment.csv`: the numbers of users over a period.
  func enrollment(_ context: PoolContext) async throws -> Response {
    let window = ChartWindow(context.signedIn.query.text("period"))
    let history = try await identity.activity.history(context, window, at: identity.clock.now())
    return history.table.csv(catalog).response(named: "enrollment-\(context.pool.objectID)")
  }

  /// `S/activity/attempts.csv`: the code attempts by day.
  func attempts(_ context: PoolContext) async throws -> Response {
    let checks = try await checks(context)
    return checks.table.csv(catalog).response(named: "attempts-\(context.pool.objectID)")
  }

  /// `S/activity/rejections.csv`: the rejected codes by weekday and hour.
  func rejections(_ context: PoolContext) async throws -> Response {
    let checks = try await checks(context)
    return checks.rejectionsTable.csv(catalog)
      .response(named: "rejections-\(context.pool.objectID)")
  }

  private func checks(_ context: PoolContext) async throws -> CheckHistory {
    try await identity.activity.checks(context, at: identity.clock.now())
  }
}

extension Activity {
  static let chartDays = 30

  func history(
    _ context: PoolContext, _ window: ChartWindow, at now: Instant
  ) async throws -> EnrollmentHistory {
    let times = context.signedIn.times
    let days = times.days(window.days + 1, until: now)
    let points = try await enrollment(of: context.pool, at: days.map(times.start), until: now)
    return EnrollmentHistory(points, window, now: now, times)
  }

  /// The code attempts of a pool in the days that charts show, or in as many before them.
  func checks(
    _ context: PoolContext, at now: Instant, isBefore: Bool = false
  ) async throws -> CheckHistory {
    let times = context.signedIn.times
    let end =
      isBefore ? times.start(ofDays: Self.chartDays, until: now).advanced(bySeconds: -1) : now
    let start = times.start(ofDays: Self.chartDays, until: end)
    let hours = try await self.checks(in: context.pool, from: start, to: end)
    return CheckHistory(hours, days: Self.chartDays, until: end, times)
  }
}
