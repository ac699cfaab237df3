/// What wrong guesses are counted for: a name, whether it exists or not, a network, a device.
struct GuessCounter: Sendable, Equatable {
  /// Whose guesses are counted together.
  enum Reach: Sendable {
    /// Those of one network, whatever they aim at.
    case network
    /// Those at one name from one network.
    case nameFromNetwork
    /// Those at one name from everywhere.
    case name
    /// Those of a browser that an administrator signed in with before.
    case device
    /// Those in sessions of an account.
    case account
  }

  /// The key of the stored count.
  let name: String
  let rule: Throttle
  let reach: Reach

  init(_ name: String, _ rule: Throttle, _ reach: Reach) {
    (self.name, self.rule, self.reach) = (name, rule, reach)
  }

  /// The counter of a network, by which somebody who tries many names is slowed down.
  static func network(_ prefix: String, _ address: String) -> GuessCounter {
    GuessCounter("\(prefix) \(Network.name(of: address))", .networks, .network)
  }

  /// The two counters of a name: what one network guesses closes the door to that network alone, and
  /// what all of them guess together is bounded by a slower count.
  static func name(_ name: String, from address: String) -> [GuessCounter] {
    [
      GuessCounter("\(name) \(Network.name(of: address))", .passwords, .nameFromNetwork),
      GuessCounter(name, .names, .name),
    ]
  }
}
