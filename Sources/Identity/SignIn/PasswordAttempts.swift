import Synchronization

/// Counts the passwords of sign-ins since the start, by who typed them and what came of them.
public final class PasswordAttempts: Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    case user
    case administrator
  }

  public enum Result: String, Sendable, CaseIterable {
    /// It's correct, so a second factor or the session follows.
    case correct
    /// It's incorrect, or there's no such account.
    case incorrect
    /// It wasn't checked, because of too many incorrect ones.
    case blocked
    /// The sign-in ended for another reason.
    case other
  }

  private struct Key: Hashable {
    let kind: Kind
    let result: Result
  }

  private let counts = Mutex<[Key: Int]>([:])

  func add(_ kind: Kind, _ result: Result) {
    counts.withLock { $0[Key(kind: kind, result: result), default: 0] += 1 }
  }

  public func count(_ kind: Kind, _ result: Result) -> Int {
    counts.withLock { $0[Key(kind: kind, result: result)] ?? 0 }
  }
}

extension Identity {
  public var passwordAttempts: PasswordAttempts { store.passwordAttempts }
}

extension PasswordAttempts.Result {
  init(_ error: any Error) {
    self =
      switch error {
      case SignInError.emailNotFound, SignInError.wrongPassword, ConsoleSignInError.refused:
        .incorrect
      case SignInError.tooManyAttempts, ConsoleSignInError.throttled: .blocked
      default: .other
      }
  }
}
