/// An error of use cases that need a session, which can be the session's.
protocol SessionErrorCarrier: Error {
  static func session(_ error: SessionError) -> Self
}

extension AccountError: SessionErrorCarrier {}
extension EnrollmentError: SessionErrorCarrier {}
extension FederationError: SessionErrorCarrier {}

extension SessionErrorCarrier {
  /// Runs `body` and converts session errors to this type.
  @discardableResult
  static func translating<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as SessionError {
      throw Self.session(error)
    }
  }
}
