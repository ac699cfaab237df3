import HTTP

extension Routes {
  mutating func addOutOfBand() {
    either(
      Path("v1", "accounts:sendOobCode"), .updateAccounts, .sendOobCode,
      methods.sendOobCodeAsAdministrator, methods.sendOobCode)
    inPool(
      .post, "accounts:sendOobCode", .updateAccounts, .sendOobCode,
      methods.sendOobCodeAsAdministrator)
    client(
      .post, Path("v1", "accounts:resetPassword"), .v1, .resetPassword, methods.resetPassword)
    client(
      .post, Path("v1", "accounts:signInWithEmailLink"), .v1, .signInWithEmailLink,
      methods.signInWithEmailLink)
    client(.post, Path("v1", "accounts:createAuthUri"), .v1, .createAuthUri, methods.createAuthUri)
  }
}
