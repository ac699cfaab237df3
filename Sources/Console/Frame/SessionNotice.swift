import HTTP
import Identity
import Localization
import Templating

struct SessionNotice: ViewModel {
  let script: String
  let csrf: String
  /// The seconds until the session ends without activity.
  let idle: Int64
  /// The seconds until the session ends in any case.
  let lifetime: Int64
  /// The earlier of the two times.
  let until: Markup

  init(_ signedIn: SignedIn, script: String, at now: Instant) {
    let session = signedIn.session
    self.script = script
    csrf = session.csrfToken
    idle = max(session.idleUntil.seconds - now.seconds, 0)
    lifetime = max(session.expiresAt.seconds - now.seconds, 0)
    until = signedIn.times.moment(min(session.idleUntil, session.expiresAt))
  }

  static let keys: Keys<Self> = [
    .text(\.script),
    .text(\.csrf),
    .text("idle") { String($0.idle) },
    .text("lifetime") { String($0.lifetime) },
    .text("extension") { _ in ConsolePaths.sessionExtension() },
    .markup(\.until),
  ]
}

/// `/account/session-extension`: counts as activity, so that the session doesn't end yet.
struct SessionExtensionPage: Sendable {
  let clock: WallClock

  /// Returns the seconds until the session ends without activity, and in any case.
  ///
  /// Finding the session for the request extended it; the page has nothing else to do.
  func extend(_ signedIn: SignedIn) async throws -> Response {
    let notice = SessionNotice(signedIn, script: "", at: clock.now())
    return .text("\(notice.idle) \(notice.lifetime)")
  }
}
