import HTTP
import Identity
import JSON

extension Routes {
  mutating func addPhones() {
    client(
      .post, Path("v1", "accounts:sendVerificationCode"), .v1, .sendVerificationCode,
      methods.sendVerificationCode)
    client(
      .post, Path("v1", "accounts:signInWithPhoneNumber"), .v1, .signInWithPhoneNumber,
      methods.signInWithPhoneNumber)
    client(
      .post, Path("v1", "accounts:verifyIosClient"), .v1, .verifyIosClient, methods.verifyIosClient)
  }
}
