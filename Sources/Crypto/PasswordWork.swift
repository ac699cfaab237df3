extension PasswordHash {
  /// The work of verifying a password, in KiB that Argon2 fills, of about half a microsecond each.
  ///
  /// Estimated from the algorithm's parameters, so that it's known before the hash is computed.
  var work: Int {
    if let cost = Bcrypt.cost(of: encoded) { return 90 << cost }
    guard let text = HashText(encoded) else { return 1 }
    return text.algorithm.work(length: text.hash.count)
  }

  /// The most work of a sign-in that isn't costly: ten times that of a new hash.
  static let ordinaryWork = 10 * Cost.current.work
}

extension PasswordHash.Cost {
  /// The work of a hash of this cost, in the same unit as ``PasswordHash/work``.
  var work: Int { Int(memory) * Int(passes) }
}

extension PasswordAlgorithm {
  /// The work of computing `length` bytes, in the same unit as ``PasswordHash/work``.
  ///
  /// The factors were measured with libcrypto 3, libargon2, and libcrypt.
  func work(length: Int) -> Int {
    switch self {
    case .hmac: 1
    case .digest(_, let rounds, _): 2 * max(rounds, 1)
    case .pbkdf2(let digest, let rounds):
      max(rounds, 1) * ((length + digest.length - 1) / digest.length)
    case .firebaseScrypt(_, _, let rounds, let cost): 4 * (rounds << cost) / 8
    case .scrypt(let cost, let blockSize, let lanes): 4 * (cost * blockSize / 8) * lanes
    case .argon2(let argon2): argon2.memory * argon2.passes
    case .bcrypt, .selfDescribing: 1
    }
  }
}
