import Crypto
import Identity

extension ImportOptions {
  static let factorless = ImportOptions(existing: .refuse)
}

extension ImportRow {
  /// Returns the row of a user with a verified address.
  static func user(_ person: Person, _ set: (inout ImportedUser) -> Void = { _ in }) -> Self {
    var user = ImportedUser()
    user.localID = "uid-\(person.rawValue)"
    user.email = person.email
    user.emailVerified = true
    set(&user)
    return .success(user)
  }
}

extension ImportedPassword {
  static func salted(_ password: Secret) -> ImportedPassword {
    let digest = HashFunction.sha256.digest(Array("salt".utf8) + password.revealedBytes)
    let hash = try? PasswordHash(
      digest, salt: Array("salt".utf8), by: .digest(.sha256, rounds: 1, order: .saltFirst))
    return hash.map { .hash($0) } ?? .plain(Secret(""))
  }
}

extension ImportedFactor {
  static let secret = Secret(Array("12345678901234567890".utf8))
}
