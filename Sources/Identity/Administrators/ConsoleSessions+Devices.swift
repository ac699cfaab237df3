public import Crypto

extension ConsoleSessions {
  /// How long a device is known after its last sign-in, in seconds: 90 days.
  public static let deviceLifetime: Int64 = 90 * 86_400
  /// How many administrators one browser is known for at most.
  private static let mostDevices = 8

  /// What a browser keeps after a sign-in, so that it's known as a device of the administrator at the
  /// next one.
  ///
  /// It opens nothing: the password is still asked for, and so is the code. Wrong guesses with it are
  /// counted apart from everybody else's.
  ///
  /// - Parameters:
  ///   - administrator: Who has signed in.
  ///   - tokens: What the browser had before, whoever for. A device keeps its identity, and with it
  ///     its count of wrong guesses.
  /// - Returns: The token for a cookie, which is not stored.
  /// - Throws: ``ConsoleSignInError/unavailable(_:)``.
  public func deviceToken(
    for administrator: ID<Administrator>, replacing tokens: [String]
  ) throws(ConsoleSignInError) -> Secret {
    let now = store.clock.now()
    let known = devices(tokens, at: now).first { $0.administrator == administrator }
    let ticket = ConsoleTicket(
      administrator, secret: Secret([]), id: known?.id, at: now, random: .system)
    do { return try ticket.sealed(.device, by: deviceSealer) } catch {
      throw .unavailable(Failure(error))
    }
  }

  /// The devices that a browser's tokens stand for; those that are forged or too old are left out.
  func devices(_ tokens: [String], at now: Instant) -> [ConsoleTicket] {
    tokens.prefix(Self.mostDevices).compactMap {
      ConsoleTicket($0, .device, at: now, by: deviceSealer)
    }
  }
}

extension ConsoleTicket {
  /// The counter of wrong passwords of a device.
  var counter: GuessCounter {
    GuessCounter("administrator device \(Hex.encode(id))", .passwords, .device)
  }
}
