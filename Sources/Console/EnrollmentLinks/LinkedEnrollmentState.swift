import HTTP
import Identity
import Localization

enum LinkedEnrollmentState {
  case open(LinkedEnrollment)
  case done(Scope)
  /// The link was already used or replaced by a newer one.
  case used(Scope)
  case late(Scope)
  case tooManyCodes(Scope)
  case disabled(Scope)
  case refused(Scope, EnrollmentError)
  /// The link is unknown, or the account has changed since it was sent.
  case void

  var scope: Scope? {
    switch self {
    case .open(let enrollment): enrollment.scope
    case .done(let scope), .used(let scope), .late(let scope), .tooManyCodes(let scope),
      .disabled(let scope), .refused(let scope, _):
      scope
    case .void: nil
    }
  }

  var status: Status {
    switch self {
    case .open, .done: .ok
    case .used, .late, .tooManyCodes: .gone
    case .disabled, .refused: .forbidden
    case .void: .notFound
    }
  }

  var title: Message {
    switch self {
    case .open: Message("enrollment-links.open-title")
    case .done: Message("enrollment-links.done-title")
    case .used: Message("enrollment-links.used-title")
    case .late: Message("enrollment-links.late-title")
    case .tooManyCodes: Message("enrollment-links.too-many-codes-title")
    case .disabled: Message("enrollment-links.disabled-title")
    case .refused(_, .alreadyEnrolled): Message("enrollment-links.already-enrolled-title")
    case .refused: Message("enrollment-links.refused-title")
    case .void: Message("enrollment-links.void-title")
    }
  }

  var sentence: Message? {
    switch self {
    case .open: nil
    case .done: Message("enrollment-links.done")
    case .used: Message("enrollment-links.used")
    case .late: Message("enrollment-links.late")
    case .tooManyCodes: Message("enrollment-links.too-many-codes")
    case .disabled: Message("enrollment-links.disabled")
    case .refused(_, .alreadyEnrolled): Message("enrollment-links.already-enrolled")
    case .refused(_, .tooManyFactors): Message("enrollment-links.too-many-factors")
    case .refused(_, .changesLocked): Message("enrollment-links.changes-locked")
    case .refused(_, .quotaExceeded): Message("enrollment-links.quota-exceeded")
    case .refused(_, .unverifiedEmail): Message("enrollment-links.unverified-email")
    case .refused: Message("enrollment-links.refused")
    case .void: Message("enrollment-links.void")
    }
  }
}
