public import Crypto
import Database

extension ConsoleSessions {
  /// The time a device is recognized after its last sign-in, in seconds (90 days).
  public static let deviceLifetime: Int64 = 90 * 86_400
  /// The maximum number of administrators that one browser is recognized for.
  private static let mostDevices = 8

  /// Creates a token that identifies the browser as a device of the administrator at the next
  /// sign-in.
  ///
  /// It grants no access: password and code are still required. Failed attempts from the device are
  /// counted separately from all others. A known device keeps its identity and its count of failed
  /// attempts.
  ///
  /// - Returns: The token for a cookie, which isn't stored.
  public func deviceToken(
    for administrator: ID<Administrator>, replacing tokens: [String]
  ) throws -> Secret {
    let now = store.clock.now()
    let known = devices(tokens, at: now).first { $0.administrator == administrator }
    let ticket = ConsoleTicket(
      administrator, secret: Secret([]), id: known?.id, at: now, random: .system)
    return try ticket.sealed(.device, by: deviceSealer)
  }

  /// Emails an administrator about a sign-in from a browser that has no valid token of an earlier
  /// one; the first sign-in isn't reported.
  func notify(
    of new: NewConsoleSession, from origin: RequestOrigin, requestID: String,
    _ devices: [ConsoleTicket], _ connection: borrowing Connection
  ) throws {
    let administrator = new.session.administrator
    try reportBreakGlass(new, from: origin, requestID: requestID, connection)
    guard !devices.contains(where: { $0.administrator == administrator.id }) else { return }
    let signIns = try connection.first(
      "SELECT sign_ins FROM administrator WHERE administrator_id = \(administrator.id)"
    ) { try $0.next() as Int }
    guard let signIns, signIns > 1 else { return }
    let mail = AdministratorSignInMail(
      email: administrator.email, origin: origin, at: new.session.startedAt,
      link: store.links.account)
    try store.outbox.notify(of: mail, to: administrator, connection)
  }

  /// Returns the devices of a browser's tokens, without forged or expired ones.
  func devices(_ tokens: [String], at now: Instant) -> [ConsoleTicket] {
    tokens.prefix(Self.mostDevices).compactMap {
      ConsoleTicket($0, .device, at: now, by: deviceSealer)
    }
  }
}

extension ConsoleTicket {
  var counter: ThrottleCounter {
    ThrottleCounter(.consolePasswords(fromDevice: Hex.encode(id)), .passwords, .device)
  }
}
