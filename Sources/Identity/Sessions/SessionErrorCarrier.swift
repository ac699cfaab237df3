/// An error of use cases that need a session, which can be the session's.
package protocol SessionErrorCarrier: Error {
  static func session(_ error: SessionError) -> Self
}

extension AccountError: SessionErrorCarrier {}
extension EnrollmentError: SessionErrorCarrier {}
extension FederationError: SessionErrorCarrier {}
extension OutOfBandError: SessionErrorCarrier {}
extension SignInError: SessionErrorCarrier {}

extension UseCaseError where Self: SessionErrorCarrier {
  package static func changedTooOften(until: Instant) -> Self {
    session(.tooManyChanges(until: until))
  }
}

extension SessionErrorCarrier {
  @discardableResult
  static func translating<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as SessionError {
      throw Self.session(error)
    }
  }
}
