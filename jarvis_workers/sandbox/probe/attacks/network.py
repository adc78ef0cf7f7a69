"""Attacks over the network: connect, listen and send."""

import os
import socket

from jarvis_workers.sandbox.probe.attacks.target import Target

SECONDS = 2
LOCAL = "127.0.0.1"
MESSAGE = b"out"


def connect_over_tcp(t: Target) -> bool:
    with socket.create_connection((LOCAL, t.tcp), SECONDS):
        return True


def listen_over_tcp(_: Target) -> bool:
    with socket.socket() as server:
        server.bind((LOCAL, 0))
        server.listen()
        return True


def send_over_udp(t: Target) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        return sender.sendto(MESSAGE, (LOCAL, t.udp)) > 0


def send_over_udp_of_version_6(_: Target) -> bool:
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender:
        return sender.sendto(MESSAGE, ("::1", 9)) > 0


def connect_to_a_path(t: Target) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(t.stream)
        return True


def send_to_a_path(t: Target) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        return sender.sendto(MESSAGE, t.datagrams) > 0


def send_to_a_path_from_a_pair(t: Target) -> bool:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        return one.sendto(MESSAGE, t.datagrams) > 0


def connect_to_an_abstract_name(t: Target) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + t.abstract)
        return True


def listen_to_an_abstract_name(t: Target) -> bool:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{t.abstract}-{os.getpid()}")
        return True


def listen_to_a_path_in_the_tree(t: Target) -> bool:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(t.inside("socket"))
        return True


def ask_netlink(_: Target) -> bool:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as asking:
        asking.bind((0, 0))
        return True


def open_vsock(_: Target) -> bool:
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM):
        return True


def open_the_ciphers_of_the_kernel(_: Target) -> bool:
    with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET):
        return True


def ping(_: Target) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP):
        return True
