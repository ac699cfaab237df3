/// An error in managing administrators.
public enum ManagementError: Error, Sendable {
  /// The administrator, invitation, or grant doesn't exist.
  case notFound
  /// Only owners of the instance can do this.
  case notAllowed
  /// Administrators can't change their own grants, remove themselves, or reset their own factor
  /// here.
  case oneself
  /// The instance must have at least one owner.
  case lastOwner
  /// The end date of a role is in the past.
  case endInPast
  /// The end date of a role is more than two years away.
  case endTooLate
  /// The project or tenant doesn't exist.
  case scopeNotFound
  /// Not a valid email address.
  case invalidEmail
  /// A name that's empty or longer than 100 characters.
  case invalidName
  /// The email address already belongs to an administrator.
  case emailTaken
  /// The database is unavailable.
  case unavailable(Failure)
}

extension ManagementError: UseCaseError {}
