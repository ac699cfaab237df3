import HTTP
import Identity
import Localization

enum ActionLinkState {
  case open(OpenedCode)
  /// The code was just applied; whether the user has an app to generate recovery codes with.
  case done(OutOfBandCode, hasApp: Bool)
  case used(OutOfBandCode)
  /// An earlier email address was restored with its own code, which ended this one.
  case replaced(OutOfBandCode)
  case late(OutOfBandCode)
  /// The code signs in, but has no continue URL of an application that could use it.
  case signIn(OutOfBandCode)
  /// The code no longer applies to the account, or, without a kind, doesn't exist.
  case void(OutOfBandCode.Kind?)
  case disabled
  case taken
  /// The user reported a change, so second factors are locked.
  case locked
  case suspended
  /// Sign-in is disabled for the whole pool.
  case closed
  /// Sign-in with email and password is disabled, so a password can't be reset.
  case passwordOff

  /// The values of the parameter `done`, which the address has after a code was applied.
  static let doneMark = "1"
  static let doneWithAppMark = "app"

  init(_ remains: OutOfBandCode?, after error: OutOfBandError, done: String?) {
    guard let remains else {
      self = .void(nil)
      return
    }
    if case .invalidCode = error {
      self = .void(remains.kind)
    } else if remains.usedAt == nil {
      self = .late(remains)
    } else if remains.isReplaced {
      self = .replaced(remains)
    } else {
      self =
        done.map { .done(remains, hasApp: $0 == Self.doneWithAppMark) } ?? .used(remains)
    }
  }

  var code: OutOfBandCode? {
    switch self {
    case .open(let opened): opened.code
    case .done(let code, _), .used(let code), .replaced(let code), .late(let code),
      .signIn(let code):
      code
    case .void, .disabled, .taken, .locked, .suspended, .closed, .passwordOff: nil
    }
  }

  var status: Status {
    switch self {
    case .open, .done, .signIn: .ok
    case .used, .replaced, .late: .gone
    case .void: .notFound
    case .disabled, .locked, .suspended, .closed, .passwordOff: .forbidden
    case .taken: .conflict
    }
  }

  var title: Message {
    switch self {
    case .open(let opened):
      switch opened.code.kind {
      case .passwordReset: Message("action-link.choose-password")
      case .verifyEmail: Message("action-link.confirm-email")
      case .changeEmail: Message("action-link.confirm-new-email")
      case .recoverEmail: Message("action-link.restore-previous-email")
      case .revertFactor: Message("action-link.remove-a-second-factor")
      case .signIn: Message("action-link.sign-in")
      }
    case .done(let code, _):
      switch code.kind {
      case .passwordReset: Message("action-link.password-changed")
      case .verifyEmail: Message("action-link.email-confirmed")
      case .changeEmail: Message("action-link.email-changed")
      case .recoverEmail: Message("action-link.email-restored")
      case .revertFactor: Message("action-link.second-factor-removed")
      case .signIn: Message("action-link.signed-in")
      }
    case .used: Message("action-link.used")
    case .replaced: Message("action-link.replaced")
    case .late: Message("action-link.expired")
    case .signIn: Message("action-link.open-in-application")
    case .void: Message("action-link.invalid")
    case .disabled: Message("action-link.account-disabled")
    case .taken: Message("action-link.email-taken")
    case .locked: Message("action-link.second-factors-locked")
    case .suspended: Message("action-link.second-factor-suspended")
    case .closed: Message("action-link.closed")
    case .passwordOff: Message("action-link.password-off")
    }
  }

  var sentence: Message {
    switch self {
    case .open(let opened): Self.explanation(of: opened.code)
    case .done(let code, let hasApp):
      switch code.kind {
      case .passwordReset: Message("action-link.password-changed-next")
      case .verifyEmail:
        Message("action-link.email-confirmed-next", ["email": Self.name(code.email)])
      case .changeEmail:
        Message("action-link.email-changed-next", ["email": Self.name(code.newEmail ?? "")])
      case .recoverEmail:
        Message("action-link.email-restored-next", ["email": Self.name(code.email)])
      case .revertFactor:
        hasApp
          ? Message("action-link.second-factor-removed-app-left")
          : Message("action-link.second-factor-removed-next")
      case .signIn: Message("action-link.continue")
      }
    case .used(let code):
      switch code.kind {
      case .passwordReset: Message("action-link.used-for-password")
      case .verifyEmail: Message("action-link.used-to-confirm")
      case .signIn: Message("action-link.used-to-sign-in")
      case .changeEmail, .recoverEmail, .revertFactor: Message("action-link.used-for-change")
      }
    case .replaced: Message("action-link.replaced-next")
    case .late(let code) where code.isExpiredEarly:
      switch code.kind {
      case .passwordReset, .signIn, .verifyEmail, .changeEmail:
        Message("action-link.expired-early")
      case .recoverEmail, .revertFactor: Message("action-link.expired-early-undo")
      }
    case .late(let code):
      switch code.kind {
      case .passwordReset, .signIn: Message("action-link.expired-after-one-hour")
      case .verifyEmail, .changeEmail: Message("action-link.expired-after-three-days")
      case .recoverEmail, .revertFactor: Message("action-link.expired-after-seven-days")
      }
    case .signIn: Message("action-link.open-on-device")
    case .void(.recoverEmail): Message("action-link.cant-restore-next")
    case .void(.revertFactor): Message("action-link.nothing-to-remove-next")
    case .void(nil): Message("action-link.unknown-next")
    case .void: Message("action-link.invalid-next")
    case .disabled: Message("action-link.account-disabled-next")
    case .taken: Message("action-link.email-taken-next")
    case .locked: Message("action-link.second-factors-locked-next")
    case .suspended: Message("action-link.second-factor-suspended-next")
    case .closed: Message("action-link.closed-next")
    case .passwordOff: Message("action-link.password-off-next")
    }
  }

  private static func explanation(of code: OutOfBandCode) -> Message {
    let email = name(code.email)
    return switch code.kind {
    case .passwordReset: Message("action-link.for-account", ["email": email])
    case .verifyEmail: Message("action-link.is-email-yours", ["email": email])
    case .changeEmail:
      Message(
        "action-link.email-will-change", ["new": name(code.newEmail ?? ""), "old": email])
    case .recoverEmail:
      code.newEmail.map {
        Message("action-link.email-was-changed", ["old": email, "new": name($0)])
      } ?? Message("action-link.email-was-removed", ["old": email])
    case .revertFactor:
      (code.factor?.visibleName ?? code.factor?.phoneNumber).map {
        Message("action-link.second-factor-was-added", ["factor": name($0), "email": email])
      } ?? Message("action-link.authenticator-was-added", ["email": email])
    case .signIn: .verbatim("")
    }
  }

  private static func name(_ text: String) -> Message.Value { .name(Formatted.short(text, 200)) }
}
