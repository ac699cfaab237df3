/// A counter of wrong guesses: for a name, whether it exists or not, a network, or a device.
struct ThrottleCounter: Sendable, Equatable {
  /// The guesses that are counted together.
  enum Reach: Sendable {
    /// Guesses from one network, for any name.
    case network
    /// Guesses for one name from one network.
    case nameFromNetwork
    /// Guesses for one name from anywhere.
    case name
    /// Guesses from a browser that an administrator has signed in with before.
    case device
    /// Guesses in sessions of an account.
    case account
  }

  /// The key of the stored counter.
  let name: String
  let rule: Throttle
  let reach: Reach

  init(_ name: CounterName, _ rule: Throttle, _ reach: Reach) {
    (self.name, self.rule, self.reach) = (name.text, rule, reach)
  }

  /// Returns the counter of a network, which slows down an attacker who tries many names.
  static func network(_ name: CounterName) -> ThrottleCounter {
    ThrottleCounter(name, .networks, .network)
  }

  /// Returns the counter of a network that calls the API; none in the emulator profile, because all
  /// users of an application's tests have the address of one machine.
  static func client(
    _ client: ClientAddress, in pool: Pool, _ profile: Profile
  ) -> [ThrottleCounter] {
    profile == .emulator ? [] : [network(.passwords(from: client, in: pool.key))]
  }

  /// Returns the two counters of a name: guesses from one network block that network only, and a
  /// slower counter limits the guesses from all networks together.
  static func name(_ name: CounterName, from client: ClientAddress) -> [ThrottleCounter] {
    [
      ThrottleCounter(name.from(client), .passwords, .nameFromNetwork),
      everywhere(name),
    ]
  }

  /// Returns the counter of a name for the guesses from all networks together.
  static func everywhere(_ name: CounterName) -> ThrottleCounter {
    ThrottleCounter(name, .names, .name)
  }
}
