import HTTP
import Identity

/// Why a request gets another page than the one it asked for.
enum Refusal: Error {
  /// Nobody is signed in; afterwards the address goes on to `next`, or to the answers of a form
  /// that were kept.
  case signInFirst(next: String?, isKept: Bool)
  /// The role needs a second factor before anything else.
  case secondFactorFirst
  /// There is no such thing, or none that this administrator may know of: one answer for both.
  case notFound
  /// The page exists and is theirs to see, but not to do.
  case notAllowed(Permission)
  /// The same, with who asked and who could help.
  case lacking(MissingPermission)
  /// A form that did not come from one of our own pages.
  case foreignForm
  /// A form that came from our page, but too late or from another sign-in.
  case staleForm
  /// A body that is not a form.
  case notAForm
  /// A body that is a form but isn't read, for the reason given.
  case malformedForm(FormError)
  /// A form whose fields aren't those of its page.
  case unreadableForm
  /// Passwords are being checked for others; try again in a moment.
  case busy
  /// The database cannot do it now.
  case unavailable(any Error)
}

/// What somebody's role lacks.
struct MissingPermission: Sendable {
  let permission: Permission
  let signedIn: SignedIn
  /// Administrators who have it, as far as one may know of them.
  let helpers: [String]
}

extension Refusal {
  init(_ error: ScopeError) {
    switch error {
    case .projectNotFound, .projectDeleted, .tenantNotFound, .tenantDeleted: self = .notFound
    case .unavailable(let failure): self = .unavailable(failure)
    }
  }
}
