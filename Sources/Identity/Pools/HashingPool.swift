import Crypto

extension Pool {
  var hashing: PasswordHasher.Pool { PasswordHasher.Pool(key) }
}

extension PasswordHasher.Pool {
  /// The queue of administrators; pools of users have keys above 0.
  static let administrators = PasswordHasher.Pool(0)
}
