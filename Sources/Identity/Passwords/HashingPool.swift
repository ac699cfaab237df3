import Crypto

extension Scope {
  /// The turns of this pool's users in the queue of password hashes.
  var hashing: PasswordHasher.Pool { PasswordHasher.Pool(key) }
}

extension PasswordHasher.Pool {
  /// The turns of administrators; pools of users have keys above 0.
  static let administrators = PasswordHasher.Pool(0)
}
