import Identity
import JSON

extension Declaration {
  static let startEnrolment = Declaration(
    "accounts.mfaEnrollment.start", "Begins to enrol a second factor: gives the app its secret.",
    takes: [
      "idToken": .text.required, "totpEnrollmentInfo": .object, "phoneEnrollmentInfo": .object,
    ],
    gives: [
      "totpSessionInfo": [
        "sharedSecretKey": .text.required, "verificationCodeLength": .integer.required,
        "hashingAlgorithm": .text.required, "periodSec": .integer.required,
        "sessionInfo": .text.required, "finalizeEnrollmentTime": .timestamp.required,
      ]
    ])
}

extension Methods {
  /// `mfaEnrollment:start`: a secret for the authenticator app, which is not stored yet.
  func startEnrolment(_ call: ClientCall) async throws(WireError) -> JSON {
    let kind = try SecondFactorKind(
      of: call.message, "phoneEnrollmentInfo", "totpEnrollmentInfo", oneof: "enrollment_info")
    if kind == .phone { throw .smsNotEnabled }
    let session = try await enrolmentSession(call)
    let start: EnrolmentStart
    do throws(EnrolmentError) {
      start = try await identity.enrolments.start(session)
    } catch {
      // What is missing in the message comes after what is wrong with the session, and before
      // what is wrong with the account.
      if kind == nil, error.concernsAccount { throw .invalidArgument }
      throw WireError(error)
    }
    guard kind == .totp else { throw .invalidArgument }
    return [
      "totpSessionInfo": [
        "sharedSecretKey": .string(start.sharedSecret.revealedText),
        "verificationCodeLength": .number(JSON.Number(start.digits)),
        "hashingAlgorithm": .string(start.algorithm),
        "periodSec": .number(JSON.Number(start.period)),
        "sessionInfo": .string(start.sessionInfo),
        "finalizeEnrollmentTime": .string(start.finalizeBy.rfc3339),
      ]
    ]
  }

  /// The session of the call; that TOTP is off is told before that the token is bad.
  private func enrolmentSession(_ call: ClientCall) async throws(WireError) -> UserSession {
    do throws(WireError) {
      return try await tokens.session(call, missing: .invalidIDToken)
    } catch {
      let scope = try await scope(of: call)
      let policy: Policy
      do throws(PolicyError) {
        policy = try await identity.policies.read(scope)
      } catch let refusal {
        throw WireError(refusal)
      }
      guard policy.configuration.isTOTPOn else { throw WireError(EnrolmentError.totpNotEnabled) }
      throw error
    }
  }
}

extension EnrolmentError {
  fileprivate var concernsAccount: Bool {
    switch self {
    case .signInTooOld, .alreadyEnrolled, .tooManyFactors: true
    default: false
    }
  }
}
