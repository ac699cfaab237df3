/// Why an owner cannot do something about administrators.
public enum ManagementError: Error, Sendable {
  /// Nobody has this id, or what was to be taken away is not there.
  case notFound
  /// Only owners of the instance may.
  case notAllowed
  /// Nobody changes their own grants, removes themselves or resets their own factor here.
  case oneself
  /// The instance must keep an owner.
  case lastOwner
  /// The project or tenant does not exist.
  case scopeNotFound
  /// Not an email address.
  case invalidEmail
  /// A name that is empty or longer than 100 characters.
  case invalidName
  /// The address belongs to an administrator already.
  case emailTaken
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension ManagementError: UseCaseError {}
