import Crypto
import HTTP
import Identity
import Localization
import Text

enum Refusal: Error {
  /// The visitor isn't signed in; signing in continues to `next`, or to the stored form.
  case signInFirst(next: String?, KeptForm)
  /// The session was ended or expired while the request was handled; the response is that to a
  /// request without a session.
  case sessionEnded
  /// The form is from an expired session of the administrator, who has signed in again; it's stored
  /// until they review it.
  case formKept(Drafts.Mark)
  /// The role requires a second factor, which isn't set up or wasn't used; using it continues to
  /// `next`.
  case secondFactorFirst(SecondFactorState, next: String?)
  /// The resource doesn't exist or isn't visible to the administrator; the response is the same.
  case notFound
  /// The administrator can see the pool, but its kind doesn't have what the page needs.
  case notOffered(Capability)
  /// The administrator can see the resource but lacks the permission for the action.
  case notAllowed(Permission)
  case lacking(MissingPermission)
  /// The form didn't come from a page of the console.
  case foreignForm
  /// The form came from a page of the console, but its token is missing or from another session.
  case staleForm
  case notAForm
  case malformedForm(FormError)
  /// The form's fields aren't those of its page.
  case unreadableForm
  /// Too many passwords are being checked at once.
  case busy
  /// There's nothing to act on anymore; another page says so, or shows it.
  case elsewhere(String, Message?, ConsoleSession)
}

/// What happens to the form of a request without a session.
enum KeptForm: Sendable {
  /// It doesn't matter: it has no values, comes from another site, or extends the session.
  case ignored
  /// It's stored until the administrator has signed in again.
  case kept
  /// It isn't stored: it's too large, or its session was ended.
  ///
  /// Nothing may have been entered, because hidden fields and buttons have values too.
  case lost
}

struct MissingPermission: Sendable {
  let permission: Permission
  let signedIn: SignedIn
  /// The names of administrators who have it and whom this administrator can see.
  let helpers: [String]
}

extension Refusal {
  /// The only translation of what a page throws; nil for a failure of the server.
  init?(_ error: any Error) {
    switch error {
    case let error as Refusal: self = error
    case let error as ActionDenial: self.init(error, .removeFactors)
    case is PoolLookupError, is BulkError, CallError.notFound, CallError.poolDeleted,
      PolicyError.poolNotFound, ProviderError.notFound:
      self = .notFound
    case PolicyError.invalidAdjacentIntervals, PolicyError.twoTOTPEntries,
      PolicyError.refusalNeedsEmail, PolicyError.approvalRequired, PolicyError.notAtOnce:
      self = .unreadableForm
    case PasskeyError.sessionEnded: self = .sessionEnded
    case CryptoError.busy: self = .busy
    default: return nil
    }
  }

  /// The refusal of an action that requires a permission; nil if a form should have shown the denial.
  private init?(_ denial: ActionDenial, _ permission: Permission) {
    switch denial {
    case .accountNotFound, .factorNotFound, .nothingToDo: self = .notFound
    case .notOffered(let capability): self = .notOffered(capability)
    case .notAllowed: self = .notAllowed(permission)
    case .sessionEnded: self = .sessionEnded
    default: return nil
    }
  }

  /// Returns what to throw for a denial that a page has no place for.
  static func of(_ denial: ActionDenial, _ permission: Permission) -> any Error {
    Refusal(denial, permission) ?? denial
  }
}

extension FormError {
  var message: Message {
    switch self {
    case .badCoding: Message("The form isn’t percent-encoded UTF-8.")
    case .containsNUL:
      Message(
        """
        A field contains a NUL character, which can’t be stored. Remove it, and submit the form \
        again.
        """)
    case .nameTooLong:
      Message(
        one: "The name of a field is longer than {count} byte.",
        other: "The name of a field is longer than {count} bytes.",
        ["count": .number(UntrustedText.longestName)])
    case .tooManyMarks:
      Message(
        one: "A field has more than {count} combining mark in a row.",
        other: "A field has more than {count} combining marks in a row.",
        ["count": .number(UntrustedText.longestRun)])
    case .tooManyFields:
      Message(
        one: "The form has more than {count} field.",
        other: "The form has more than {count} fields.", ["count": .number(Form.maximumCount)])
    }
  }
}

extension Instant {
  /// The seconds to wait until this time, at least one, as `Retry-After` has them.
  func wait(at now: Instant) -> Int64 { max(seconds - now.seconds, 1) }
}

extension Response {
  /// A page with errors, and the time to wait if there were too many attempts.
  static func html(_ html: [UInt8], errors: [FieldError]) -> Response {
    guard let wait = errors.lazy.compactMap(\.wait).first else {
      return .html(html, status: errors.isEmpty ? .ok : .unprocessableContent)
    }
    var response = Response.html(html, status: .tooManyRequests)
    response.fields[.retryAfter] = String(wait)
    return response
  }
}
