import Database
import OTP

enum CallerCheck {
  /// No code was read back, and none is required.
  case unverified
  case verified(CallerProof)
  /// The code is missing, wrong, or no longer valid.
  case invalid(ActionInputError)
  /// A verified caller is required, and no code can be sent.
  case impossible
}

extension CallerCheck {
  var fault: ActionInputError? {
    if case .invalid(let fault) = self { fault } else { nil }
  }

  var proof: CallerProof? {
    if case .verified(let proof) = self { proof } else { nil }
  }
}

extension SupportAuthorization {
  /// Checks the code that a caller read back, and counts and records a wrong one; text that isn't a
  /// code is only rejected.
  ///
  /// A right code stays valid until the action is done, so that an error in another field doesn't
  /// cost the caller a new email.
  func checkCaller(
    _ action: ConsoleAction, _ request: ActionRequest, of account: Account,
    _ settings: SupportRules, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> CallerCheck {
    guard settings.callerVerification != .off else { return .unverified }
    let isRequired = settings.callerVerification == .required && action.letsCallerIn
    guard account.verifiedEmail != nil else {
      return isRequired && !action.canWaitForApproval ? .impossible : .unverified
    }
    guard !request.callerCode.isEmpty else {
      return isRequired ? .invalid(.callerCodeRequired) : .unverified
    }
    let agent = request.agent.administrator.id
    guard let code = try CallerCode.find(account, by: agent, at: now, connection) else {
      return .invalid(.callerCodeExpired)
    }
    guard let digits = TypedCode.digits(CallerCode.length, of: request.callerCode) else {
      return .invalid(.callerCodeMalformed)
    }
    guard try code.matches(digits) else {
      try CallerCode.fail(account, by: agent, connection)
      let failures = code.failures + 1
      var entry = AuditEntry(.accountRefuseCallerCode, of: account, in: pool)
      entry.add(.wrongCodes, .number(failures))
      try entry.record(by: request.author, at: now, connection)
      let left = CallerCode.tries - failures
      return .invalid(left > 0 ? .callerCodeWrong(left: left) : .callerCodeExpired)
    }
    return .verified(.emailCode)
  }

  /// Returns what an agent can do to verify the caller; nil where the pool doesn't offer it.
  func callerStatus(
    _ action: ConsoleAction, _ agent: ID<Administrator>, about account: Account,
    _ settings: SupportRules, at now: Instant, _ connection: borrowing Connection
  ) throws -> CallerStatus? {
    guard settings.callerVerification != .off else { return nil }
    return CallerStatus(
      isRequired: settings.callerVerification == .required && action.letsCallerIn,
      email: account.verifiedEmail,
      sent: try CallerCode.find(account, by: agent, at: now, connection)?.sent)
  }
}
