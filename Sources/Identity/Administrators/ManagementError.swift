public enum ManagementError: Error, Sendable {
  case notFound
  /// Only owners of the instance can do this.
  case notAllowed
  /// Administrators can't change their own grants, remove themselves, or reset their own factor
  /// here.
  case oneself
  /// The instance must have at least one owner.
  case lastOwner
  /// Password sign-in is off, and this is the only account that could sign in without the provider.
  case breakGlassAccount
  /// A role that a group gives can't have an end date: it returns at the next sign-in.
  case roleFromGroup
  /// Password sign-in is off, so that an invitation couldn't be accepted.
  case passwordSignInOff
  case endInPast
  /// The end date of a role is more than two years away.
  case endTooLate
  case poolNotFound
  case invalidEmail
  /// A name that's empty or longer than 100 characters.
  case invalidName
  case emailTaken
}
