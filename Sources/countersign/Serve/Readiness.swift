import Foundation
import HTTP
import Identity

/// The readiness of the server, as reported by `/readyz`.
///
/// The response names each failed check in one word and nothing else, since the endpoint is public.
/// The checks run at most once per second, no matter how many requests arrive.
actor Readiness {
  private let identity: Identity
  private let folder: DataFolder
  /// Whether the master key comes from the environment.
  private let isKeyFixed: Bool
  private let start: Instant
  private var last: (at: ContinuousClock.Instant, reasons: Task<[String], Never>)?

  /// The least free disk space, in bytes, with which the server is ready.
  static let leastSpace = 64 << 20

  init(_ identity: Identity, _ folder: DataFolder, environment: [String: String]) {
    self.identity = identity
    self.folder = folder
    isKeyFixed = environment[DataFolder.variable] != nil
    start = identity.clock.now()
  }

  /// Returns the failed checks, of `database`, `integrity`, `clock`, `keys`, and `disk`; empty when
  /// it's ready.
  func reasons() async -> [String] {
    if let last, ContinuousClock.now - last.at < .seconds(1) { return await last.reasons.value }
    let task = Task { [identity, folder, isKeyFixed, start] in
      await Self.find(identity, folder, isKeyFixed, since: start)
    }
    last = (.now, task)
    return await task.value
  }

  private static func find(
    _ identity: Identity, _ folder: DataFolder, _ isKeyFixed: Bool, since start: Instant
  ) async -> [String] {
    var reasons: [String] = []
    do { try await identity.checkWritable() } catch { reasons.append("database") }
    // An unreadable database is reported above.
    let integrity = try? await identity.integrityChecks.problem(since: start)
    if integrity != nil { reasons.append("integrity") }
    if identity.clockGuard.doubt != nil { reasons.append("clock") }
    let hasKey = isKeyFixed || (try? folder.keptKeys()) != nil
    if !hasKey || !identity.hasSigningKey { reasons.append("keys") }
    if let free = folder.freeSpace, free < leastSpace { reasons.append("disk") }
    return reasons
  }
}

/// Answers health checks from load balancers and service managers.
struct Probes: Sendable {
  /// The readiness checks; nil while the server starts.
  let readiness: Readiness?

  /// Answers `/healthz`, `/livez`, and `/readyz`; returns nil for any other path.
  func response(to request: Request) async -> Response? {
    switch request.target.rawPath {
    case "/healthz": readiness == nil ? nil : answer(request, "ok", .ok)
    case "/livez": answer(request, "ok", .ok)
    case "/readyz":
      if let readiness {
        await ready(request, readiness)
      } else {
        unready(request, ["starting"])
      }
    default: nil
    }
  }

  private func ready(_ request: Request, _ readiness: Readiness) async -> Response {
    guard isAllowed(request) else { return answer(request, "", .ok) }
    let reasons = await readiness.reasons()
    guard !reasons.isEmpty else { return answer(request, "ready", .ok) }
    return unready(request, reasons)
  }

  private func unready(_ request: Request, _ reasons: [String]) -> Response {
    answer(request, "not ready: \(reasons.joined(separator: ", "))", .serviceUnavailable)
  }

  private func isAllowed(_ request: Request) -> Bool {
    request.method == .get || request.method == .head
  }

  private func answer(_ request: Request, _ text: String, _ status: Status) -> Response {
    guard isAllowed(request) else {
      var response = Response.text("GET only\n", status: .methodNotAllowed)
      response.fields[.allow] = "GET, HEAD"
      return response
    }
    var response = Response.text("\(text)\n", status: status)
    response.fields[.cacheControl] = "no-store"
    if status == .serviceUnavailable { response.fields[.retryAfter] = "5" }
    return response
  }
}
